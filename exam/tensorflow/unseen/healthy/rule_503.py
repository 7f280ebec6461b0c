"""Softplus with its derivative."""

import numpy as np
import tensorflow as tf


@tf.custom_gradient
def softplus(x):
    value = tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x)))

    def grad(upstream):
        return upstream * tf.sigmoid(x)

    return value, grad


tf.random.set_seed(35)
w = tf.Variable(tf.random.normal((6,)))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(softplus(w) ** 2)
grad = tape.gradient(loss, w)
with tf.GradientTape() as check:
    exact = tf.reduce_sum(tf.nn.softplus(w) ** 2)
reference = check.gradient(exact, w)
assert np.allclose(grad, reference, atol=1e-4)
