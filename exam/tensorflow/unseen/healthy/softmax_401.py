"""A tagger that normalises over the tags."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(32, 7, 3)).astype("float32")
tags = x.argmax(axis=-1)
inputs = keras.Input((7, 3))
hidden = keras.layers.Dense(8, activation="relu")(inputs)
scores = keras.layers.Dense(3)(hidden)
model = keras.Model(inputs, keras.layers.Softmax(axis=-1)(scores))
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, tags, epochs=1, verbose=0)
assert np.allclose(model.predict(x, verbose=0).sum(axis=-1), 1, atol=1e-3)
