"""Patches of 4 x 3."""

import tensorflow as tf

tf.keras.utils.set_random_seed(27)
dense, conv = tf.keras.layers.Dense(12), tf.keras.layers.Conv2D(2, 2)


def decode(z):
    patches = tf.reshape(dense(z), (-1, 4, 3, 1))
    return conv(patches)


z = tf.random.normal((5, 3))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(decode(z) ** 2)
grads = tape.gradient(loss, dense.trainable_variables + conv.trainable_variables)
assert len(grads) == 4
