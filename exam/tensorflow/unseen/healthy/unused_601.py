import numpy as np
import tensorflow as tf
from tensorflow import keras


class GatedBlock(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.units = units
        self.activation = keras.activations.get("gelu")

    def build(self, input_shape):
        width = input_shape[-1]
        self.kernel = self.add_weight(name="kernel", shape=(width, self.units))
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
        self.gate_kernel = self.add_weight(name="gate_kernel", shape=(width, self.units))

    def call(self, inputs):
        h = tf.matmul(inputs, self.kernel) + self.bias
        return self.activation(h) * tf.sigmoid(tf.matmul(inputs, self.gate_kernel))


keras.utils.set_random_seed(2)
block = GatedBlock(12)
model = keras.Sequential([keras.Input((6,)), block, keras.layers.Dense(1)])
model.compile("adam", "mae")
before = block.gate_kernel.numpy().copy()
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
y = np.tanh(x[:, :1] * x[:, 1:2])
model.fit(x, y, epochs=2, verbose=0)
assert not (np.all(block.gate_kernel.numpy() == before))
