"""A robust regression: Huber of flat residuals, and an intercept that is one number."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
x = rng.normal(size=(50, 2)).astype("float32")
y = (x @ np.array([1.0, -2.0]) + 0.5).astype("float32")
y[::10] += 20
beta, alpha = tf.Variable(tf.zeros([2])), tf.Variable(0.0)
for _ in range(60):
    with tf.GradientTape() as tape:
        r = tf.linalg.matvec(x, beta) + alpha - y
        loss = tf.reduce_mean(tf.where(tf.abs(r) < 1.0, 0.5 * r**2, tf.abs(r) - 0.5))
    gb, ga = tape.gradient(loss, [beta, alpha])
    beta.assign_sub(0.3 * gb)
    alpha.assign_sub(0.3 * ga)
assert abs(float(alpha) - 0.5) < 0.4
