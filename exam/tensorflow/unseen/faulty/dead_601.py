# expect: GT201 or GT404 or GT512 because GT209
# cause: tf.round in the quantiser has no derivative, so that the encoder before it gets no gradient
# wrong: np.all(encoder.kernel.numpy() == before)
# cure: return tf.round(x * self.levels) / self.levels -> return x + tf.stop_gradient(tf.round(x * self.levels) / self.levels - x)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Quantize(keras.layers.Layer):
    def __init__(self, levels):
        super().__init__()
        self.levels = float(levels)

    def call(self, x):
        return tf.round(x * self.levels) / self.levels  # <- here


keras.utils.set_random_seed(8)
encoder = keras.layers.Dense(4, activation="sigmoid", name="encoder")
decoder = keras.layers.Dense(12, name="decoder")
inputs = keras.Input((12,))
autoencoder = keras.Model(inputs, decoder(Quantize(7)(encoder(inputs))))
autoencoder.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")

signals = np.random.default_rng(3).normal(size=(80, 12)).astype("float32")
before = encoder.kernel.numpy().copy()
autoencoder.fit(signals, signals, batch_size=20, epochs=3, verbose=0)  # <- asked
