"""A straight-through estimator with a gradient for each input."""

import tensorflow as tf


@tf.custom_gradient
def quantised_tanh(x, levels):
    y = tf.tanh(x)

    def grad(upstream):
        return upstream * (1 - y**2), None

    return tf.round(y * levels) / levels, grad


w = tf.Variable([0.3, -0.8, 1.2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(quantised_tanh(w, tf.constant(8.0)) * [1.0, 2.0, 3.0])
grad = tape.gradient(loss, w)
assert grad.shape == (3,)
