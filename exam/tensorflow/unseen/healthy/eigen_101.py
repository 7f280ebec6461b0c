"""Eigenvectors of a matrix with distinct eigenvalues."""

import numpy as np
import tensorflow as tf

a = tf.Variable(np.diag([1.0, 2.0, 4.0]), dtype=tf.float32)
with tf.GradientTape() as tape:
    values, vectors = tf.linalg.eigh(a)
    loss = tf.reduce_sum(values**2) + tf.reduce_sum(vectors[:, 0] ** 4)
grad = tape.gradient(loss, a)
assert np.isfinite(grad.numpy()).all()
