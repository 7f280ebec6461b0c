"""A pairwise ranking loss: scores against themselves, every pair on purpose."""

import tensorflow as tf

w = tf.Variable(tf.random.stateless_normal([3, 1], seed=[1, 1]))
docs = tf.random.stateless_normal([8, 3], seed=[2, 2])
grade = tf.range(8, dtype=tf.float32)
with tf.GradientTape() as tape:
    s = tf.squeeze(docs @ w, -1)
    margin = s[:, None] - s[None, :]
    better = tf.cast(grade[:, None] > grade[None, :], tf.float32)
    loss = tf.reduce_sum(better * tf.nn.softplus(-margin)) / tf.reduce_sum(better)
assert tape.gradient(loss, w).shape == (3, 1)
