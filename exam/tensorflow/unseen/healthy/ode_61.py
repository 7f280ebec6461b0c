"""A neural ODE by Euler steps: the derivative of the end by the start and the parameters."""

import tensorflow as tf

field = tf.Variable([[0.0, 1.0], [-1.0, -0.1]])
start = tf.constant([[1.0, 0.0]])
with tf.GradientTape() as tape:
    tape.watch(start)
    z = start
    for _ in range(20):
        z = z + 0.1 * tf.tanh(z @ field)
    gap = tf.reduce_sum(z**2)
d_start, d_field = tape.gradient(gap, [start, field])
assert d_start.shape == (1, 2)
assert d_field.shape == (2, 2)
