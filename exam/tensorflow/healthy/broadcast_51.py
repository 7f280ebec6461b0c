"""Pairwise distances in a contrastive loss: (n, 1, d) against (1, n, d)."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(16, 5)).astype("float32")
labels = rng.integers(0, 3, size=16)
W = tf.Variable(rng.normal(size=(5, 2)), dtype=tf.float32)
same = tf.cast(labels[:, None] == labels[None, :], tf.float32)
with tf.GradientTape() as tape:
    z = x @ W
    d2 = tf.reduce_sum((z[:, None, :] - z[None, :, :]) ** 2, axis=-1)
    loss = tf.reduce_mean(same * d2 + (1 - same) * tf.nn.relu(1.0 - d2))
g = tape.gradient(loss, W)
assert d2.shape == (16, 16)
assert np.any(g.numpy())
