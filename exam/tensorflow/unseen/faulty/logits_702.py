# expect: GT509
# cause: the last layer is a relu, whose outputs are no probabilities, and the loss by name expects them
# wrong: not np.allclose(model.predict(signals, verbose=0).sum(axis=1), 1.0, atol=1e-3)
# cure: keras.layers.Dense(4, activation="relu") -> keras.layers.Dense(4, activation="softmax")
import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)
signals = rng.normal(size=(64, 20, 2)).astype("float32")
gestures = rng.integers(0, 4, 64)

model = keras.Sequential(
    [
        keras.Input((20, 2)),
        keras.layers.Conv1D(8, 5, activation="relu"),
        keras.layers.GlobalAveragePooling1D(),
        keras.layers.Dense(4, activation="relu"),  # <- here
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
history = model.fit(signals, gestures, epochs=2, batch_size=16, verbose=0)  # <- here
