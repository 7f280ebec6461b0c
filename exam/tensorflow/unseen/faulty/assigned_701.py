# expect: GT201 or GT206 because GT206
# cause: the loss that is differentiated is the metric's running mean, a variable that was assigned to
# wrong: raises ValueError
# cure: tape.gradient(self.tracker.result(), self.trainable_variables) -> tape.gradient(loss, self.trainable_variables)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Forecaster(keras.Model):
    def __init__(self):
        super().__init__()
        self.cell = keras.layers.GRU(6)
        self.head = keras.layers.Dense(1)
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, x):
        return self.head(self.cell(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.abs(self(x, training=True) - y))
            self.tracker.update_state(loss)  # <- here
        gradients = tape.gradient(self.tracker.result(), self.trainable_variables)  # <- here
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))  # <- asked
        return {"loss": self.tracker.result()}


keras.utils.set_random_seed(23)
x = np.random.randn(24, 9, 2).astype("float32")
y = x[:, -1, :1]
forecaster = Forecaster()
forecaster.compile(optimizer="adam")
history = forecaster.fit(x, y, epochs=1, batch_size=8, verbose=0)  # <- asked
