# expect: GT101
# cause: the targets of a batch are (16,) and the predictions (16, 1), and a Loss subclass does not make them alike
# wrong: np.ptp(model.predict(x, verbose=0)) < 0.35 * np.ptp(y)
# cure: error = y_true - y_pred -> error = y_true[:, None] - y_pred
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(3)


class AsymmetricLoss(keras.losses.Loss):
    """Too low a forecast costs three times as much as too high a one."""

    def __init__(self, penalty=3.0, name="asymmetric"):
        super().__init__(name=name)
        self.penalty = penalty

    def call(self, y_true, y_pred):
        y_true = tf.cast(y_true, y_pred.dtype)
        error = y_true - y_pred  # <- here
        weight = tf.where(error > 0, self.penalty, 1.0)
        return tf.reduce_mean(weight * tf.square(error))


def make_data(n):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(n, 5)).astype("float32")
    demand = features @ np.array([1.0, -2.0, 0.5, 0.0, 1.5], "float32") + 0.1 * rng.normal(size=n)
    return features, demand.astype("float32")


x, y = make_data(128)
model = keras.Sequential([keras.Input((5,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=AsymmetricLoss())
model.fit(x, y, batch_size=16, epochs=12, verbose=0)
