# expect: GT401
# cause: the loss of fit divides by the targets, some of which are zero
# wrong: not np.isfinite(history.history["loss"][-1])
# cure: tf.abs(y_true)) -> (tf.abs(y_true) + 1e-3))
import keras
import numpy as np
import tensorflow as tf


def relative_error(y_true, y_pred):
    return tf.reduce_mean(tf.abs(y_pred - y_true) / tf.abs(y_true))  # <- here


keras.utils.set_random_seed(22)
x = np.random.randn(32, 3).astype("float32")
sales = np.random.poisson(1.0, (32, 1)).astype("float32")
model = keras.Sequential([keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss=relative_error)
history = model.fit(x, sales, epochs=2, batch_size=16, verbose=0)  # <- asked
