# expect: GT401
# cause: one column of the features is constant, so it is divided by a standard deviation of zero
# wrong: np.isnan(history.history["loss"][-1])
# cure: / tf.math.reduce_std(x, axis=0) -> / (tf.math.reduce_std(x, axis=0) + 1e-6)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Standardise(keras.layers.Layer):
    def call(self, x):
        return (x - tf.reduce_mean(x, axis=0)) / tf.math.reduce_std(x, axis=0)  # <- here


keras.utils.set_random_seed(0)
X = np.random.rand(64, 4).astype("float32")
X[:, 2] = 1.0  # the same country for everybody
y = X[:, :1] * 3.0

model = keras.Sequential([keras.layers.Input((4,)), Standardise(), keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
history = model.fit(X, y, epochs=2, batch_size=32, verbose=0)  # <- asked
print(history.history["loss"])
