"""A frozen base is trained from the second stage on; compile is called again."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x, y = np.random.normal(size=(48, 5)), np.random.normal(size=(48, 1))
base = keras.Sequential([keras.Input((5,)), keras.layers.Dense(8, activation="relu")])
model = keras.Sequential([base, keras.layers.Dense(1)])
base.trainable = False
model.compile("adam", "mse")
model.fit(x, y, epochs=3, verbose=0)
before = base.get_weights()[0].copy()
base.trainable = True
model.compile(keras.optimizers.Adam(1e-4), "mse")
model.fit(x, y, epochs=3, verbose=0)
assert (before != base.get_weights()[0]).any()
