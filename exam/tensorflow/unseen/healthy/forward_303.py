"""A linear regression on features of the same size."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.uniform(500.0, 2500.0, size=(128, 4)).astype("float32")
y = (x[:, :1] - x[:, 1:2]) / 1000.0
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
model.compile(keras.optimizers.SGD(0.1), "mse")
history = model.fit(x / 2000.0 - 0.5, y, epochs=10, verbose=0)
assert np.isfinite(history.history["loss"][-1])
