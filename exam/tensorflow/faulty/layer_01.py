# expect: GT116
# cause: greyscale images without an axis of channels are given to a Conv2D model
# wrong: raises ValueError
# cure: model.fit(x_train, -> model.fit(x_train[..., np.newaxis],
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
x_train = np.random.rand(32, 12, 12).astype("float32")  # <- here
y_train = np.random.randint(0, 3, size=32)

model = keras.Sequential(
    [
        layers.Conv2D(4, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(3, activation="softmax"),
    ]
)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=1, verbose=0)  # <- here
