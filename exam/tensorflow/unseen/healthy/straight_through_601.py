# a vector quantiser with a straight-through estimator and a commitment loss
import numpy as np
import tensorflow as tf
from tensorflow import keras


class VectorQuantizer(keras.layers.Layer):
    def __init__(self, codes, width, beta=0.25):
        super().__init__()
        self.beta = beta
        self.codebook = self.add_weight(shape=(codes, width), initializer="random_uniform", name="codebook")

    def call(self, z):
        book = tf.convert_to_tensor(self.codebook)
        distance = (
            tf.reduce_sum(z**2, axis=1, keepdims=True) - 2.0 * z @ tf.transpose(book) + tf.reduce_sum(book**2, axis=1)
        )
        quantized = tf.gather(book, tf.argmin(distance, axis=1))
        self.add_loss(self.beta * tf.reduce_mean((tf.stop_gradient(quantized) - z) ** 2))
        self.add_loss(tf.reduce_mean((quantized - tf.stop_gradient(z)) ** 2))
        return z + tf.stop_gradient(quantized - z)


keras.utils.set_random_seed(4)
inputs = keras.Input((10,))
encoder = keras.layers.Dense(4)
vq = VectorQuantizer(16, 4)
model = keras.Model(inputs, keras.layers.Dense(10)(vq(encoder(inputs))))
model.compile("adam", "mse")
x = np.random.default_rng(4).normal(size=(64, 10)).astype("float32")
start = encoder.kernel.numpy().copy()
log = model.fit(x, x, epochs=3, batch_size=16, verbose=0)
assert not np.array_equal(start, encoder.kernel.numpy())
assert np.isfinite(log.history["loss"][-1])
