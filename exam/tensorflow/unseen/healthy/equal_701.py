import numpy as np
from tensorflow import keras


class LowRank(keras.layers.Layer):
    def __init__(self, base, rank):
        super().__init__()
        self.base, self.rank = base, rank
        self.base.trainable = False

    def build(self, shape):
        self.down = self.add_weight(shape=(shape[-1], self.rank), initializer="glorot_uniform")
        self.up = self.add_weight(shape=(self.rank, self.base.units), initializer="zeros")

    def call(self, x):
        return self.base(x) + keras.ops.matmul(keras.ops.matmul(x, self.down), self.up)


keras.utils.set_random_seed(49)
x = np.random.randn(40, 6).astype("float32")
y = np.sin(x[:, :2]).astype("float32")
adapter = LowRank(keras.layers.Dense(2), 2)
model = keras.Sequential([keras.Input((6,)), adapter])
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
model.fit(x, y, epochs=2, batch_size=10, verbose=0)
assert not (not np.any(adapter.down.numpy()) and not np.any(adapter.up.numpy()))
