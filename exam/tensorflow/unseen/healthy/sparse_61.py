"""Embeddings with sparse gradients, padded tokens masked, and a mean over words."""

import tensorflow as tf

tf.random.set_seed(4)
table = tf.Variable(tf.random.normal([20, 3]))
ids = tf.constant([[1, 5, 0, 0], [7, 2, 9, 0]])
with tf.GradientTape() as tape:
    vectors = tf.nn.embedding_lookup(table, ids)
    count = tf.cast(ids != 0, tf.float32)[..., None]
    mean = tf.reduce_sum(vectors * count, axis=1) / tf.reduce_sum(count, axis=1)
    loss = tf.reduce_sum(mean**2)
g = tape.gradient(loss, table)
assert isinstance(g, tf.IndexedSlices)
tf.keras.optimizers.SGD(0.1).apply_gradients([(g, table)])
