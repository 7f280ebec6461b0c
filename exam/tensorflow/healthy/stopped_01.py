"""stop_gradient on purpose: SimSiam, where one branch is a constant."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(3)
encoder = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
predictor = keras.Sequential([keras.layers.Dense(4)])
x = np.random.randn(16, 6).astype("float32")
view1, view2 = x + 0.1 * np.random.randn(16, 6), x + 0.1 * np.random.randn(16, 6)


def similarity(p, z):
    z = tf.stop_gradient(z)
    p, z = tf.math.l2_normalize(p, axis=1), tf.math.l2_normalize(z, axis=1)
    return -tf.reduce_mean(tf.reduce_sum(p * z, axis=1))


with tf.GradientTape() as tape:
    z1, z2 = encoder(view1), encoder(view2)
    p1, p2 = predictor(z1), predictor(z2)
    loss = similarity(p1, z2) / 2 + similarity(p2, z1) / 2
variables = encoder.trainable_variables + predictor.trainable_variables
grads = tape.gradient(loss, variables)
assert all(g is not None for g in grads)
