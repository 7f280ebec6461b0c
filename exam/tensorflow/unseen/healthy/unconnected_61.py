"""A gradient that is asked with unconnected_gradients: zeros where there is no path."""

import tensorflow as tf

used, other = tf.Variable(2.0), tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = used**2
a, b = tape.gradient(y, [used, other], unconnected_gradients=tf.UnconnectedGradients.ZERO)
assert float(a) == 4.0
assert float(b) == 0.0
