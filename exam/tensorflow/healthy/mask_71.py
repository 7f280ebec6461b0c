"""An Embedding with mask_zero and an LSTM that follows the mask."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(10)
model = keras.Sequential([keras.layers.Embedding(12, 4, mask_zero=True), keras.layers.LSTM(5), keras.layers.Dense(1)])
model.compile("adam", keras.losses.BinaryCrossentropy(from_logits=True))
tokens = np.array([[1, 2, 0, 0], [3, 4, 5, 0], [6, 7, 8, 9], [2, 0, 0, 0]])
history = model.fit(tokens, np.array([[0], [1], [1], [0]]), verbose=0)
assert np.isfinite(history.history["loss"][0])
