"""A Lambda layer that only computes, between layers that learn."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(8)
model = keras.Sequential()
model.add(keras.layers.Input((4,)))
model.add(keras.layers.Dense(6))
model.add(keras.layers.Lambda(lambda t: t / 2.0))
model.add(keras.layers.Dense(1))
model.compile("adam", "mae")
history = model.fit(np.random.rand(12, 4), np.random.rand(12, 1), verbose=0)
assert np.isfinite(history.history["loss"][0])
