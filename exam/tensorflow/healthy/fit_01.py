"""fit with callbacks, validation data and metrics."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
x = np.random.randn(120, 4).astype("float32")
y = (x[:, 0] > x[:, 1]).astype("float32")

model = keras.Sequential(
    [layers.Input((4,)), layers.Dense(8, activation="relu"), layers.Dense(1, activation="sigmoid")]
)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss="binary_crossentropy", metrics=["accuracy"])
callbacks = [
    keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True),
    keras.callbacks.ReduceLROnPlateau(patience=2),
]
history = model.fit(x, y, validation_split=0.25, epochs=6, batch_size=30, callbacks=callbacks, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
