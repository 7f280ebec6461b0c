"""A graph convolution: a normalised adjacency matrix times features times weights."""

import tensorflow as tf

tf.random.set_seed(13)
edges = tf.constant([[0, 1, 0, 0], [1, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]], tf.float32) + tf.eye(4)
degree = tf.reduce_sum(edges, axis=1)
adjacency = edges * tf.math.rsqrt(degree)[:, None] * tf.math.rsqrt(degree)[None, :]
h, w = tf.random.normal([4, 3]), tf.Variable(tf.random.normal([3, 2]))
labels = tf.constant([0, 1, 0, 1])
with tf.GradientTape() as tape:
    logits = adjacency @ h @ w
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
assert tape.gradient(loss, w).shape == (3, 2)
