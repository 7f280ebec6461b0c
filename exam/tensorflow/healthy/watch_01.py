"""Saliency map of an input tensor that is watched; the parameters are not of interest."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
image = tf.constant(np.random.rand(1, 6, 6), tf.float32)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(image)
    scores = model(image)
    best = int(tf.argmax(scores[0]))
    top = scores[0, best]
saliency = tf.abs(tape.gradient(top, image))[0]
assert saliency.shape == (6, 6)
assert np.any(saliency.numpy())
