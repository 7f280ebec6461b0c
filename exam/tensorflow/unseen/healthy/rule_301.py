"""A rule for a function that uses a variable, which it returns the gradient of."""

import tensorflow as tf

scale = tf.Variable(2.0)


@tf.custom_gradient
def scaled(x):
    def backward(upstream, variables=None):
        return upstream * scale, [tf.reduce_sum(upstream * x)]

    return x * scale, backward


x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled(x) ** 2)
grads = tape.gradient(loss, [scale])
assert len(grads) == 1
