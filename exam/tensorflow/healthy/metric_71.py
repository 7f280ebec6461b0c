"""A metric of a subclass of keras.metrics.Metric, which brings shapes together itself."""

import tensorflow as tf
from tensorflow import keras


class Bias(keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="bias")
        self.total = self.add_weight(name="total", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.total.assign_add(tf.reduce_sum(tf.reshape(y_pred, [-1]) - tf.reshape(tf.cast(y_true, y_pred.dtype), [-1])))

    def result(self):
        return self.total


keras.utils.set_random_seed(11)
model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=[Bias()])
x = tf.random.normal([12, 2])
history = model.fit(x, tf.reduce_sum(x, axis=1), verbose=0)
assert "bias" in history.history
