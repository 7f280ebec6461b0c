"""Two units with softmax for two classes, and one unit with a sigmoid: both are right."""

import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.normal(size=(48, 4))
y = (x[:, 0] > 0).astype("float32")
two = keras.Sequential([keras.Input((4,)), keras.layers.Dense(2, activation="softmax")])
two.compile("adam", "sparse_categorical_crossentropy")
one = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1, activation="sigmoid")])
one.compile("adam", "binary_crossentropy")
for model in (two, one):
    assert np.isfinite(model.fit(x, y, epochs=3, verbose=0).history["loss"]).all()
