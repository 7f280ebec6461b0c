"""The gradient of the scale is summed over the batch."""

import tensorflow as tf


@tf.custom_gradient
def scaled(x, scale):
    def grad(upstream):
        return upstream * scale, tf.reduce_sum(upstream * x, axis=0)

    return x * scale, grad


tf.random.set_seed(34)
x = tf.random.normal((10, 4))
scale = tf.Variable(tf.ones(4))
optimizer = tf.keras.optimizers.SGD(0.1)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scaled(x, scale) ** 2)
    grad = tape.gradient(loss, scale)
    optimizer.apply_gradients([(grad, scale)])
assert grad.shape == (4,)
