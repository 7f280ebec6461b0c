"""Per-channel gains on images, a batch of scalars and a positional table: all stretched on purpose."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
images = tf.constant(rng.random((4, 6, 6, 3)), tf.float32)
strength = tf.constant(rng.random((4, 1, 1, 1)), tf.float32)
gain = tf.Variable(tf.ones(3))
position = tf.Variable(tf.zeros((6, 6, 1)))
with tf.GradientTape() as tape:
    out = images * gain * strength + position
    loss = tf.reduce_mean((out - 0.5) ** 2)
dg, dp = tape.gradient(loss, [gain, position])
assert dg.shape == (3,)
assert dp.shape == (6, 6, 1)
