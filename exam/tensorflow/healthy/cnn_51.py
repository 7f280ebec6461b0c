"""An autoencoder for images with transposed convolutions; the target is the input."""

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
images = np.random.rand(24, 8, 8, 1).astype("float32")
inputs = keras.Input((8, 8, 1))
h = layers.Conv2D(4, 3, strides=2, padding="same", activation="relu")(inputs)
outputs = layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid")(h)
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(0.01), loss="binary_crossentropy")
history = model.fit(images, images, epochs=3, batch_size=12, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
