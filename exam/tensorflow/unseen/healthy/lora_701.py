# a low-rank adapter whose second factor starts at zero, on a frozen layer
import numpy as np
from tensorflow import keras


class Adapter(keras.layers.Layer):
    def __init__(self, base, rank=2, alpha=4.0):
        super().__init__()
        self.base, self.rank, self.scale = base, rank, alpha / rank
        self.base.trainable = False

    def build(self, shape):
        self.a = self.add_weight(shape=(shape[-1], self.rank), initializer="he_uniform")
        self.b = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros")

    def call(self, x):
        return self.base(x) + self.scale * (x @ self.a @ self.b)


keras.utils.set_random_seed(2)
x = np.random.randn(40, 6).astype("float32")
y = np.tanh(x[:, :3])
adapter = Adapter(keras.layers.Dense(3))
model = keras.Sequential([keras.Input((6,)), adapter])
model.compile(keras.optimizers.Adam(0.01), loss="mse")
model.fit(x, y, epochs=2, batch_size=10, verbose=0)
assert np.any(adapter.b.numpy())
