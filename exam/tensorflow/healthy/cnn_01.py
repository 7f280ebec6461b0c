"""A small CNN with BatchNorm and dropout: integer labels and a sparse loss."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
images = np.random.rand(40, 8, 8, 1).astype("float32")
labels = (images.mean(axis=(1, 2, 3)) > 0.5).astype("int32")
model = keras.Sequential(
    [
        layers.Input((8, 8, 1)),
        layers.Conv2D(4, 3, padding="same"),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(2, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
history = model.fit(images, labels, epochs=2, batch_size=20, verbose=0)
scores = model.predict(images, verbose=0)
assert np.allclose(scores.sum(axis=1), 1.0, atol=1e-5)
