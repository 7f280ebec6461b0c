"""Layers and models of one's own, and the functional way."""

import numpy as np
import tensorflow as tf

tf.keras.backend.clear_session()


class Linear(tf.keras.layers.Layer):
    def __init__(self, units=2):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", trainable=True, name="w")
        self.b = self.add_weight(shape=(self.units,), initializer="zeros", trainable=True, name="b")

    def call(self, inputs):
        return tf.matmul(inputs, self.w) + self.b


class Block(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Linear(3)
        self.second = Linear(1)

    def call(self, inputs, training=False):
        x = tf.nn.relu(self.first(inputs))
        return self.second(x) * (2.0 if training else 1.0)


block = Block()
print(block.name, block.built, len(block.weights))
x = tf.constant([[1.0, 2.0]])
print(block(x), block(x, training=True).numpy())
print([w.path for w in block.trainable_variables])
print(block.first.w)
with tf.GradientTape() as tape:
    y = block(x)
print([g.numpy().tolist() for g in tape.gradient(y, block.trainable_variables)])

block.first.trainable = False
print(len(block.trainable_variables), len(block.non_trainable_variables))

inputs = tf.keras.Input(shape=(3,))
hidden = tf.keras.layers.Dense(4, activation="relu", kernel_initializer="ones")(inputs)
both = tf.keras.layers.Concatenate()([inputs, hidden])
outputs = tf.keras.layers.Dense(1, kernel_initializer="ones")(both)
model = tf.keras.Model(inputs, outputs)
print(model(np.array([[1.0, 2.0, 3.0]])), model.count_params(), [tuple(w.shape) for w in model.weights])
print(outputs.shape)
