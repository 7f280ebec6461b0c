"""Softmax in the last layer and a loss of probabilities; labels are one-hot."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(0)
kind = np.random.randint(0, 3, 90)
x = np.eye(3, dtype="float32")[kind] + 0.3 * np.random.randn(90, 3).astype("float32")
y = keras.utils.to_categorical(kind, 3)
model = keras.Sequential(
    [keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(3, activation="softmax")]
)
model.compile(optimizer=keras.optimizers.Adam(0.05), loss="categorical_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=6, batch_size=30, verbose=0)
assert history.history["accuracy"][-1] > 0.6
