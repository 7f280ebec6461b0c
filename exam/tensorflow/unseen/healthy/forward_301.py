"""Counts with Poisson's loss: the rate is positive."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(64, 3)).astype("float32")
counts = np.random.poisson(np.exp(0.5 * x[:, :1])).astype("float32")
model = keras.Sequential(
    [keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1, activation="exponential")]
)
model.compile("sgd", "poisson")
history = model.fit(x, counts, epochs=2, verbose=0)
assert np.isfinite(history.history["loss"][-1])
