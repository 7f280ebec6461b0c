"""A custom_gradient with a variable inside: the rule returns the gradients of the variables too."""

import numpy as np
import tensorflow as tf

k = tf.Variable(3.0)


@tf.custom_gradient
def scaled_square(x):
    y = k * x * x

    def grad(dy, variables=None):
        return dy * 2.0 * k * x, [tf.reduce_sum(dy * x * x)]

    return y, grad


x = tf.Variable([1.0, -2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled_square(x))
dx, dk = tape.gradient(loss, [x, k])
assert np.allclose(dx.numpy(), [6.0, -12.0])
assert np.isclose(float(dk), 5.0)
