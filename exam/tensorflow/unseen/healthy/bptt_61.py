"""A character model with an LSTMCell in a Python loop: logits and labels step by step."""

import tensorflow as tf

tf.keras.utils.set_random_seed(1)
text = tf.constant([[1, 4, 2, 0, 3, 1], [2, 2, 0, 1, 4, 4]])
table = tf.keras.layers.Embedding(5, 4)
cell, head = tf.keras.layers.LSTMCell(6), tf.keras.layers.Dense(5)
with tf.GradientTape() as tape:
    state = [tf.zeros([2, 6]), tf.zeros([2, 6])]
    total = 0.0
    for t in range(5):
        output, state = cell(table(text[:, t]), state)
        total += tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=text[:, t + 1], logits=head(output))
        )
    loss = total / 5.0
variables = table.trainable_variables + cell.trainable_variables + head.trainable_variables
assert all(g is not None for g in tape.gradient(loss, variables))
