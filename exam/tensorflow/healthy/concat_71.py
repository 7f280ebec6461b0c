"""Two inputs of different width joined along the features, in a functional model with fit."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(1)
a, b = keras.Input((3,)), keras.Input((5,))
joined = keras.layers.Concatenate()([keras.layers.Dense(4, activation="relu")(a), b])
model = keras.Model([a, b], keras.layers.Dense(1)(joined))
model.compile("adam", "mse")
data = [np.random.rand(16, 3).astype("float32"), np.random.rand(16, 5).astype("float32")]
history = model.fit(data, data[0][:, :1], verbose=0)
assert np.isfinite(history.history["loss"][0])
