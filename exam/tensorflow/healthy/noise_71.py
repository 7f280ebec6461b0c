"""Zeros that are met on purpose: dropout of everything in a branch that has a residual path."""

import tensorflow as tf

w = tf.Variable(tf.ones([3, 3]) * tf.constant([[0.5, -0.5, 0.1]]))
x = tf.random.stateless_normal([5, 3], seed=[9, 9])
keep = tf.constant([[1.0], [0.0], [1.0], [0.0], [1.0]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x + keep * tf.tanh(x @ w)) ** 2)
assert bool(tf.reduce_any(tape.gradient(loss, w) != 0))
