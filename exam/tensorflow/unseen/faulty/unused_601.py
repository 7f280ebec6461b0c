# expect: GT201 or GT513 or GT512 because GT202
# cause: the gate is built and never used in call, so it has no gradient
# wrong: np.all(block.gate_kernel.numpy() == before)
# cure: return self.activation(h) -> return self.activation(h) * tf.sigmoid(tf.matmul(inputs, self.gate_kernel))
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
        self.gate_kernel = self.add_weight(name="gate_kernel", shape=(width, self.units))  # <- here

    def call(self, inputs):
        h = tf.matmul(inputs, self.kernel) + self.bias
        return self.activation(h)  # <- here


keras.utils.set_random_seed(2)
block = GatedBlock(12)
model = keras.Sequential([keras.Input((6,)), block, keras.layers.Dense(1)])
model.compile("adam", "mae")
before = block.gate_kernel.numpy().copy()
x = np.random.default_rng(0).normal(size=(64, 6)).astype("float32")
y = np.tanh(x[:, :1] * x[:, 1:2])
model.fit(x, y, epochs=2, verbose=0)  # <- asked
