"""A running baseline and a normaliser that are taken out of the gradient."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(30, 3)), tf.float32)
w = tf.Variable([0.5, -0.5, 1.0])
baseline = tf.Variable(0.0, trainable=False)
for _ in range(3):
    with tf.GradientTape() as tape:
        score = tf.linalg.matvec(x, w)
        scale = tf.stop_gradient(tf.reduce_max(tf.abs(score)))
        loss = tf.reduce_mean((score / scale - baseline) ** 2)
    g = tape.gradient(loss, w)
    baseline.assign(0.9 * baseline + 0.1 * tf.reduce_mean(score))
    w.assign_sub(0.1 * g)
assert np.any(g.numpy())
