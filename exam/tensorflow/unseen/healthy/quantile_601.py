# three quantiles for one target: (n, 3) against (n, 1) on purpose
import numpy as np
import tensorflow as tf
from tensorflow import keras

QUANTILES = np.array([0.1, 0.5, 0.9], "float32")


def pinball(y_true, y_pred):
    error = y_true - y_pred
    return tf.reduce_mean(tf.maximum(QUANTILES * error, (QUANTILES - 1.0) * error))


keras.utils.set_random_seed(20)
rng = np.random.default_rng(20)
x = rng.uniform(-1, 1, (120, 1)).astype("float32")
y = (x + 0.3 * rng.normal(size=(120, 1))).astype("float32")
model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(3)])
model.compile(keras.optimizers.Adam(0.02), pinball)
model.fit(x, y, epochs=15, batch_size=30, verbose=0)
low, _, high = model.predict(x, verbose=0).mean(axis=0)
assert low < high
