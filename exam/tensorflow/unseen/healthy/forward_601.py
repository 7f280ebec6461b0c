import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def poisson_nll(y_true, rate):
    """Negative log likelihood of counts, without the constant."""
    return tf.reduce_mean(rate - y_true * tf.math.log(rate))


class CountModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.body = layers.Dense(16, activation="tanh")
        self.rate = layers.Dense(1, activation="softplus")

    def call(self, x):
        return self.rate(self.body(x))


tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(9)
x = rng.normal(size=(100, 4)).astype("float32")
counts = (1 + rng.poisson(np.exp(0.3 * x[:, :1]))).astype("float32")

model = CountModel()
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss=poisson_nll)
history = model.fit(x, counts, batch_size=25, epochs=2, verbose=0)
assert not (not np.all(np.isfinite(history.history["loss"])))
