# expect: GT201 because GT210
# cause: the custom loss is computed with NumPy, which run_eagerly allows, and has no gradient
# wrong: raises ValueError
# cure: np.mean(np.abs(y_true - y_pred) / (1.0 + np.abs(y_true))) -> tf.reduce_mean(tf.abs(y_true - y_pred) / (1.0 + tf.abs(y_true)))
# cure: tf.constant(error, tf.float32) -> error
import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = np.random.normal(size=(64, 3)).astype("float32")
y = x.sum(axis=1, keepdims=True)


def relative_error(y_true, y_pred):
    error = np.mean(np.abs(y_true - y_pred) / (1.0 + np.abs(y_true)))  # <- here
    return tf.constant(error, tf.float32)  # <- here


model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(1)])
model.compile("adam", relative_error, run_eagerly=True)
history = model.fit(x, y, epochs=1, verbose=0)  # <- asked
