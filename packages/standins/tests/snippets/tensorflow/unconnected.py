"""Zeros instead of None where there is no path."""

import tensorflow as tf

x = tf.Variable([2.0, 2.0])
y = tf.Variable(3.0)
with tf.GradientTape() as tape:
    z = y**2
print(tape.gradient(z, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))

with tf.GradientTape(persistent=True) as tape:
    z = tf.reduce_sum(x * x)
print(tape.gradient(z, [x, y]))
print(tape.gradient(z, [x, y], unconnected_gradients="zero"))
print(tf.UnconnectedGradients.NONE, tf.UnconnectedGradients.ZERO.value)
