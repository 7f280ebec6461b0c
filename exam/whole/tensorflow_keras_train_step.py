# needs: keras
"""A Keras model with a `train_step` of its own: a variational autoencoder, with `add_loss` and metrics."""

import keras
import numpy as np
import tensorflow as tf
from keras import layers, ops
from measure import Steps
from tensorflow_measure import Timer, finish


class Sample(layers.Layer):
    def __init__(self):
        super().__init__()
        self.seeds = keras.random.SeedGenerator(1)

    def call(self, inputs):
        mean, log_variance = inputs
        self.add_loss(-0.5 * ops.mean(1 + log_variance - ops.square(mean) - ops.exp(log_variance)) * 0.01)
        return mean + ops.exp(0.5 * log_variance) * keras.random.normal(ops.shape(mean), seed=self.seeds)


class Autoencoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = layers.Dense(16, activation="tanh")
        self.mean, self.log_variance = layers.Dense(2), layers.Dense(2)
        self.sample = Sample()
        self.back = keras.Sequential([layers.Dense(16, activation="tanh"), layers.Dense(8)])
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        hidden = self.hidden(x)
        return self.back(self.sample([self.mean(hidden), self.log_variance(hidden)]))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x, training=True) - x)) + tf.add_n(self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


keras.utils.set_random_seed(0)
data = np.random.randn(256, 2).astype("float32") @ np.random.randn(2, 8).astype("float32")
model = Autoencoder()
model.compile(optimizer=keras.optimizers.Adam(1e-2))
steps = Steps()
history = model.fit(data, batch_size=16, epochs=8, verbose=0, callbacks=[Timer(steps)])
print(" ".join(f"{float(value):.6f}" for value in history.history["loss"]))
finish(steps, model.variables)
