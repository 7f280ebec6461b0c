"""A Jacobian, and the gradient of a vector, which TensorFlow sums: both are meant."""

import numpy as np
import tensorflow as tf

A = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
x = tf.Variable([1.0, -1.0])
with tf.GradientTape(persistent=True) as tape:
    y = tf.linalg.matvec(A, x) ** 2
J = tape.jacobian(y, x)
g = tape.gradient(y, x, output_gradients=tf.ones(3))
assert J.shape == (3, 2)
assert np.allclose(g.numpy(), J.numpy().sum(axis=0))
