"""A keras LSTM for sequences, trained with fit."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
x = np.random.randn(40, 6, 2).astype("float32")
y = x[:, :, 0].sum(axis=1, keepdims=True)
model = keras.Sequential([keras.layers.Input((6, 2)), keras.layers.LSTM(6), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.03), loss="mse")
history = model.fit(x, y, epochs=4, batch_size=20, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
