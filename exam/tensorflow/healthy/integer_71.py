"""Integers where they belong: token numbers, class labels and a count of steps."""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)
steps = tf.Variable(0, dtype=tf.int64, trainable=False)
table, head = tf.keras.layers.Embedding(10, 4), tf.keras.layers.Dense(3)
tokens, labels = tf.constant([[1, 2], [3, 4]]), tf.constant([0, 2])
for _ in range(2):
    with tf.GradientTape() as tape:
        logits = head(tf.reduce_mean(table(tokens), axis=1))
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True))
    grads = tape.gradient(loss, head.trainable_variables + table.trainable_variables)
    steps.assign_add(1)
assert int(steps) == 2
