import numpy as np
import tensorflow as tf
from tensorflow import keras


class Gate(keras.layers.Layer):
    def __init__(self, units):
        super().__init__()
        self.project = keras.layers.Dense(units)
        self.switch = keras.layers.Dense(units, activation="sigmoid")

    def __call__(self, x):
        return self.project(x) * self.switch(x)


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.gate = Gate(8)
        self.head = keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.gate(x))


keras.utils.set_random_seed(92)
x = np.random.randn(64, 5).astype("float32")
y = (x[:, :1] * x[:, 1:2]).astype("float32")
model = Net()
model.compile(optimizer="adam", loss="mse")
model(x)
before = model.gate.project.get_weights()[0].copy() if hasattr(model.gate.project, "kernel") else None
model.fit(x, y, epochs=2, batch_size=16, verbose=0)
assert not (np.array_equal(before, model.gate.project.get_weights()[0]))
