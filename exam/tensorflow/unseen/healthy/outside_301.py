"""A train_step whose forward pass is recorded by the tape."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)


class Regressor(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = keras.layers.Dense(8, activation="relu")
        self.out = keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.hidden(x))

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(y=y, y_pred=y_pred)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables))
        return {"loss": loss}


x = np.random.normal(size=(64, 3)).astype("float32")
model = Regressor()
model.compile("adam", "mse")
history = model.fit(x, x.sum(axis=1, keepdims=True), epochs=1, verbose=0)
assert np.isfinite(history.history["loss"][-1])
