"""Some variables have no part in this loss, which unconnected_gradients says."""

import tensorflow as tf

a, b = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = a**2
ga, gb = tape.gradient(y, [a, b], unconnected_gradients=tf.UnconnectedGradients.ZERO)
assert float(ga) == 4.0
assert float(gb) == 0.0
