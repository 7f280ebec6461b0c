"""Activation maximisation: an image Variable is changed by assign_add with a normalised gradient."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
conv = keras.layers.Conv2D(4, 3, activation="relu")
image = tf.Variable(tf.random.uniform((1, 8, 8, 3)))
values = []
for _ in range(6):
    with tf.GradientTape() as tape:
        activation = tf.reduce_mean(conv(image)[..., 0])
    g = tape.gradient(activation, image)
    image.assign_add(0.1 * g / (tf.math.reduce_std(g) + 1e-8))
    image.assign(tf.clip_by_value(image, 0.0, 1.0))
    values.append(float(activation))
assert values[-1] > values[0]
