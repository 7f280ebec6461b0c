"""A one-hot choice of an argmax is compared with labels in a metric, and is no part of the loss."""

import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal((16, 4))
labels = tf.one_hot(tf.random.uniform((16,), 0, 3, tf.int32), 3)
w = tf.Variable(tf.random.normal((4, 3)) * 0.1)
for _ in range(8):
    with tf.GradientTape() as tape:
        logits = x @ w
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
        agree = tf.reduce_mean(tf.reduce_sum(tf.one_hot(tf.argmax(logits, axis=1), 3) * labels, axis=1))
    w.assign_sub(0.5 * tape.gradient(loss, w))
assert 0 <= float(agree) <= 1
