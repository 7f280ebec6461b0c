"""A map over integers whose results are real numbers, which it is told."""

import tensorflow as tf

tf.random.set_seed(0)
w = tf.Variable(tf.random.normal((5, 3)))
rows = tf.constant([0, 2, 4])
with tf.GradientTape() as tape:
    norms = tf.map_fn(lambda i: tf.reduce_sum(w[i] ** 2), rows, fn_output_signature=tf.float32)
    loss = tf.reduce_sum(norms)
grad = tape.gradient(loss, w)
assert grad is not None
