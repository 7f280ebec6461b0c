"""Losses of layers (kernel regularisers, add_loss) are added to the loss in a custom loop."""

import tensorflow as tf
from tensorflow import keras


class Sparse(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(6, kernel_regularizer="l2")

    def call(self, x):
        h = self.dense(x)
        self.add_loss(1e-3 * tf.reduce_sum(tf.abs(h)))
        return h


keras.utils.set_random_seed(0)
model = keras.Sequential([Sparse(), keras.layers.Dense(1)])
x = tf.random.normal([10, 4])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(model(x) ** 2) + tf.add_n(model.losses)
assert all(g is not None for g in tape.gradient(loss, model.trainable_variables))
