"""Outer products on purpose: a kernel matrix from two vectors by None, and a Gaussian process likelihood."""

import tensorflow as tf

t = tf.linspace(0.0, 1.0, 12)
y = tf.sin(6.0 * t)
log_length, log_noise = tf.Variable(-1.0), tf.Variable(-2.0)
with tf.GradientTape() as tape:
    gap = (t[:, None] - t[None, :]) / tf.exp(log_length)
    kernel = tf.exp(-0.5 * gap**2) + (tf.exp(2 * log_noise) + 1e-4) * tf.eye(12)
    root = tf.linalg.cholesky(kernel)
    alpha = tf.linalg.cholesky_solve(root, y[:, None])
    loss = 0.5 * tf.tensordot(y, alpha[:, 0], 1) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(root)))
assert all(g is not None for g in tape.gradient(loss, [log_length, log_noise]))
