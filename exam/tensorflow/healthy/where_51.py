"""A masked mean of sequences with padding, divided by at least one."""

import numpy as np
import tensorflow as tf

table = tf.Variable(np.random.default_rng(0).normal(size=(6, 3)), dtype=tf.float32)
ids = tf.constant([[1, 2, 0], [5, 0, 0], [0, 0, 0]])
with tf.GradientTape() as tape:
    mask = tf.cast(ids > 0, tf.float32)[..., None]
    total = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) * mask, axis=1)
    mean = total / tf.maximum(tf.reduce_sum(mask, axis=1), 1.0)
    loss = tf.reduce_mean((mean - 1.0) ** 2)
g = tf.convert_to_tensor(tape.gradient(loss, table)).numpy()
assert np.isfinite(g).all()
assert not g[0].any()
