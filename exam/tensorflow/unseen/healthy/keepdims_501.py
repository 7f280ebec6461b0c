"""Rows of a square matrix with norm one; a mean of each column is meant without keepdims."""

import tensorflow as tf

tf.random.set_seed(4)
links = tf.Variable(tf.random.normal((8, 8)))
goal = tf.random.normal((8, 8))
optimizer = tf.keras.optimizers.Adam(0.01)


def normalised():
    return links / tf.norm(links, axis=1, keepdims=True)


for _ in range(3):
    with tf.GradientTape() as tape:
        rows = normalised()
        loss = tf.reduce_sum((rows @ tf.transpose(rows) - goal) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, links), links)])
centred = links - tf.reduce_mean(links, axis=0)
assert centred.shape == (8, 8)
