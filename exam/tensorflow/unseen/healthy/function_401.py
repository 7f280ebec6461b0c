"""The loss of each example, without a loop over the batch."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


def absolute(y_true, y_pred):
    return tf.reduce_sum(tf.abs(y_true - y_pred))


x = np.random.normal(size=(50, 3)).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
model.compile("adam", absolute)
history = model.fit(x, x[:, :1], epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
