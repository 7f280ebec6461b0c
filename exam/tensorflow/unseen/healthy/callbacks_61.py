"""fit with a LambdaCallback, early stopping, class weights and a validation split."""

import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(2)
x = np.random.randn(80, 4).astype("float32")
y = (x[:, 0] + 0.1 * x[:, 1] > 0).astype("int32")
seen = []
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
model.fit(
    x,
    y,
    epochs=3,
    validation_split=0.25,
    class_weight={0: 1.0, 1: 2.0},
    verbose=0,
    callbacks=[
        keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: seen.append(logs["loss"])),
        keras.callbacks.EarlyStopping(patience=5),
    ],
)
assert len(seen) == 3
assert np.isfinite(seen).all()
