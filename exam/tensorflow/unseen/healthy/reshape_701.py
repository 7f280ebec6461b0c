import numpy as np
from tensorflow import keras

keras.utils.set_random_seed(4)


def make_decoder(latent):
    code = keras.Input((latent,))
    x = keras.layers.Dense(4 * 4 * 16, activation="relu")(code)
    x = keras.layers.Reshape((4, 4, 16))(x)
    x = keras.layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(x)
    return keras.Model(code, keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x))


decoder = make_decoder(2)
decoder.compile("adam", loss="mse")
codes = np.random.randn(16, 2).astype("float32")
pictures = np.random.rand(16, 8, 8, 1).astype("float32")
history = decoder.fit(codes, pictures, batch_size=8, epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
