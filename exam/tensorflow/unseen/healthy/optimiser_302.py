"""The layers of a helper are attributes of the model, which finds their variables."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Encoder(keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.first = keras.layers.Dense(size, activation="relu")
        self.second = keras.layers.Dense(size, activation="relu")

    def call(self, x):
        return self.second(self.first(x))


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8)
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.encoder(x))


x = np.random.normal(size=(64, 5)).astype("float32")
y = x[:, :1] * x[:, 1:2]
model = Model()
model(x[:1])
before = model.encoder.first.kernel.numpy()
model.compile("adam", "mse")
model.fit(x, y, epochs=2, verbose=0)
assert not np.array_equal(before, model.encoder.first.kernel.numpy())
