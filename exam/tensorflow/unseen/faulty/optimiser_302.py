# expect: GT513
# cause: the layers are kept by an object of a plain class, where the model does not look for them
# wrong: np.array_equal(before, model.encoder.first.kernel.numpy())
# cure: class Encoder: -> class Encoder(keras.layers.Layer):
# cure: def __init__(self, size):\n -> def __init__(self, size):\n        super().__init__()\n
# cure: def encode(self, x): -> def call(self, x):
# cure: self.encoder.encode(x) -> self.encoder(x)
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Encoder:
    def __init__(self, size):
        self.first = keras.layers.Dense(size, activation="relu")
        self.second = keras.layers.Dense(size, activation="relu")

    def encode(self, x):
        return self.second(self.first(x))


class Model(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder(8)  # <- here
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.encoder.encode(x))  # <- here


x = np.random.normal(size=(64, 5)).astype("float32")
y = x[:, :1] * x[:, 1:2]
model = Model()
model(x[:1])
before = model.encoder.first.kernel.numpy()
model.compile("adam", "mse")
model.fit(x, y, epochs=2, verbose=0)  # <- here
