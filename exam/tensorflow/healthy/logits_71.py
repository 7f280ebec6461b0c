"""Probabilities for the log, logits for the loss."""

import tensorflow as tf

tf.keras.utils.set_random_seed(9)
head = tf.keras.layers.Dense(3)
x, labels = tf.random.normal([8, 4]), tf.one_hot([0, 1, 2, 0, 1, 2, 0, 1], 3)
with tf.GradientTape() as tape:
    logits = head(x)
    shown = tf.nn.softmax(logits)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
assert abs(float(tf.reduce_sum(shown)) - 8.0) < 1e-3
assert all(g is not None for g in tape.gradient(loss, head.trainable_variables))
