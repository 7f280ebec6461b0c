"""A functional model with two outputs, a dictionary of losses and weights."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
x = np.random.randn(60, 5).astype("float32")
price = x[:, :1] * 2
kind = (x[:, 1] > 0).astype("int32")
inputs = keras.Input((5,))
h = layers.Dense(12, activation="relu")(inputs)
model = keras.Model(
    inputs, {"price": layers.Dense(1, name="price")(h), "kind": layers.Dense(2, activation="softmax", name="kind")(h)}
)
model.compile(
    optimizer=keras.optimizers.Adam(0.02),
    loss={"price": "mse", "kind": "sparse_categorical_crossentropy"},
    loss_weights={"price": 1.0, "kind": 0.5},
)
history = model.fit(x, {"price": price, "kind": kind}, epochs=4, batch_size=20, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
