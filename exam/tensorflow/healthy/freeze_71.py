"""Some layers are frozen by trainable = False, and the rest of a deep model is trained by fit."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(4)
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.layers[0].trainable = False
before = model.layers[0].get_weights()[0]
model.compile("sgd", "mse")
model.fit(np.random.rand(16, 4), np.random.rand(16, 1), verbose=0)
assert np.array_equal(before, model.layers[0].get_weights()[0])
