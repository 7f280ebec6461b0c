"""Three classes with class numbers: a sparse loss."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(60, 4)).astype("float32")
y = x[:, :3].argmax(axis=1)
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3, "softmax")])
model.compile("adam", loss="sparse_categorical_crossentropy")
history = model.fit(x, y, epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
