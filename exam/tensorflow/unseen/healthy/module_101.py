"""A tf.Module with a constant buffer beside its variables."""

import tensorflow as tf


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.mean = tf.constant([1.0, 2.0, 3.0, 4.0])
        self.scale = tf.Variable(tf.ones((4,)))

    def __call__(self, x):
        return (x - self.mean) * self.scale


layer = Scale()
x = tf.random.normal((10, 4), seed=1)
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(x) - 2 * x) ** 2)
    (grad,) = tape.gradient(loss, layer.trainable_variables)
    layer.scale.assign_sub(0.01 * grad)
assert float(loss) > 0
