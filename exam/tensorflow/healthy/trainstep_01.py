"""A custom train_step that compares what belongs together."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class CustomModel(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x=x, y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(gradients, self.trainable_variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


keras.utils.set_random_seed(0)
inputs = keras.Input(shape=(8,))
outputs = keras.layers.Dense(1)(keras.layers.Dense(8, activation="relu")(inputs))
model = CustomModel(inputs, outputs)
model.compile(optimizer="adam", loss="mse", metrics=["mae"])
x, y = np.random.random((100, 8)), np.random.random((100, 1))
history = model.fit(x, y, epochs=3, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
