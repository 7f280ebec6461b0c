"""A custom loss that returns what it computed."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def log_cosh(y_true, y_pred):
    return tf.reduce_mean(tf.math.log(tf.cosh(y_pred - y_true)))


x = np.random.normal(size=(64, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", log_cosh)
history = model.fit(x, x[:, :1], epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
