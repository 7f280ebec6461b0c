"""One temperature for a batch of logits, and one bias for each class."""

import tensorflow as tf

logits = tf.random.stateless_normal([10, 4], seed=[5, 5])
labels = tf.constant([0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
temperature, bias = tf.Variable(1.0), tf.Variable(tf.zeros([4]))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits / temperature + bias))
    dt, db = tape.gradient(loss, [temperature, bias])
    temperature.assign_sub(0.1 * dt)
    bias.assign_sub(0.1 * db)
assert float(loss) > 0
