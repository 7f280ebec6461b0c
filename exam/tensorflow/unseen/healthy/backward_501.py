"""Multidimensional scaling with a small number under the root."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(23)
places = tf.Variable(tf.random.normal((7, 2)))
measured = tf.abs(tf.random.normal((7, 7)))
optimizer = tf.keras.optimizers.Adam(0.05)


def pairwise(p):
    difference = p[:, None, :] - p[None, :, :]
    return tf.sqrt(tf.reduce_sum(difference**2, axis=-1) + 1e-9)


for _ in range(2):
    with tf.GradientTape() as tape:
        stress = tf.reduce_sum((pairwise(places) - measured) ** 2)
    grad = tape.gradient(stress, places)
    optimizer.apply_gradients([(grad, places)])
assert np.isfinite(grad.numpy()).all()
