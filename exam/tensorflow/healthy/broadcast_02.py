"""An RBF layer: (batch, 1, features) against (units, features), every example meets every centre."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class RBF(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units

    def build(self, shape):
        self.centres = self.add_weight(shape=(self.units, shape[-1]), initializer="random_normal", name="centres")
        self.width = self.add_weight(shape=(self.units,), initializer="ones", name="width")

    def call(self, x):
        squared = tf.reduce_sum((tf.expand_dims(x, 1) - self.centres) ** 2, axis=-1)
        return tf.exp(-squared * self.width)


keras.utils.set_random_seed(0)
x = np.random.randn(20, 2).astype("float32")
y = np.sin(x[:, :1])
model = keras.Sequential([RBF(20), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.05)
losses = []
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
