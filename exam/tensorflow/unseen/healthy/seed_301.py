"""A Jacobian for each example, of a function that keeps the axis of examples."""

import tensorflow as tf

tf.random.set_seed(0)
w = tf.random.normal((3, 2))
x = tf.random.normal((7, 3))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.tanh(x @ w)
jacobian = tape.batch_jacobian(y, x)
assert jacobian.shape == (7, 2, 3)
