"""A VAE as a keras Model with its own train_step and trackers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class VAE(keras.Model):
    def __init__(self):
        super().__init__()
        self.enc = keras.layers.Dense(4)
        self.dec = keras.layers.Dense(6)
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        mean, log_var = tf.split(self.enc(x), 2, axis=1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        return self.dec(z), mean, log_var

    def train_step(self, x):
        with tf.GradientTape() as tape:
            out, mean, log_var = self(x)
            recon = tf.reduce_mean(tf.reduce_sum(tf.square(out - x), axis=1))
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var), axis=1))
            loss = recon + 0.1 * kl
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


keras.utils.set_random_seed(0)
vae = VAE()
vae.compile(optimizer=keras.optimizers.Adam(0.03))
history = vae.fit(np.random.randn(64, 6).astype("float32"), epochs=4, batch_size=32, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
