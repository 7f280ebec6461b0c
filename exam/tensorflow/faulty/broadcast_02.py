# expect: GT101
# cause: a subclass of Loss gets y_true as (None,) and y_pred as (None, 1), unlike a plain function
# wrong: history.history["loss"][-1] > 0.5
# cure: error = y_true - y_pred -> error = y_true - tf.squeeze(y_pred, -1)
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class HuberLoss(keras.losses.Loss):
    def __init__(self, threshold=1.0):
        super().__init__()
        self.threshold = threshold

    def call(self, y_true, y_pred):
        error = y_true - y_pred  # <- here
        small = tf.abs(error) <= self.threshold
        squared = tf.square(error) / 2
        linear = self.threshold * (tf.abs(error) - self.threshold / 2)
        return tf.where(small, squared, linear)


keras.utils.set_random_seed(1)
x_train = np.random.normal(size=(96, 4)).astype("float32")
y_train = x_train @ np.array([1.0, -3.0, 2.0, 0.5], dtype="float32")

model = keras.Sequential([layers.Input((4,)), layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(0.1), loss=HuberLoss(1.5))
history = model.fit(x_train, y_train, epochs=20, batch_size=32, verbose=0)
print(history.history["loss"][-1])
