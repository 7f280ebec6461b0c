"""An LSTM that returns sequences with a TimeDistributed head, by fit."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(12)
x = np.random.randn(20, 8, 2).astype("float32")
y = np.cumsum(x, axis=1)[..., :1]
model = keras.Sequential(
    [keras.layers.LSTM(6, return_sequences=True), keras.layers.TimeDistributed(keras.layers.Dense(1))]
)
model.compile("adam", "mae")
history = model.fit(x, y, epochs=2, verbose=0)
assert np.isfinite(history.history["loss"]).all()
