"""All pairs of points on purpose: a column against a row, each made with newaxis."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
points = tf.Variable(rng.normal(size=(10,)), dtype=tf.float32)
with tf.GradientTape() as tape:
    gaps = points[:, tf.newaxis] - points[tf.newaxis, :]
    kernel = tf.exp(-(gaps**2))
    repulsion = tf.reduce_sum(kernel)
g = tape.gradient(repulsion, points)
assert kernel.shape == (10, 10)
assert np.isfinite(g.numpy()).all()
