# a VAE: sampling, a KL term, and the loss of a subclassed model with trackers
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Sampling(layers.Layer):
    def call(self, inputs):
        mean, log_var = inputs
        return mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))


class VAE(keras.Model):
    def __init__(self, latent=2):
        super().__init__()
        self.hidden, self.mean, self.log_var = layers.Dense(16, "relu"), layers.Dense(latent), layers.Dense(latent)
        self.sample, self.decoder = Sampling(), keras.Sequential([layers.Dense(16, "relu"), layers.Dense(12)])
        self.tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.tracker]

    def call(self, x):
        h = self.hidden(x)
        return self.decoder(self.sample([self.mean(h), self.log_var(h)]))

    def train_step(self, x):
        with tf.GradientTape() as tape:
            h = self.hidden(x)
            mean, log_var = self.mean(h), self.log_var(h)
            logits = self.decoder(self.sample([mean, log_var]))
            rebuilt = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=1)
            kl = -0.5 * tf.reduce_sum(1.0 + log_var - mean**2 - tf.exp(log_var), axis=1)
            loss = tf.reduce_mean(rebuilt + kl)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.trainable_weights), self.trainable_weights))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}


keras.utils.set_random_seed(17)
x = (np.random.default_rng(17).random((64, 12)) < 0.3).astype("float32")
vae = VAE()
vae.compile(keras.optimizers.Adam(0.01))
log = vae.fit(x, epochs=4, batch_size=16, verbose=0)
assert log.history["loss"][-1] < log.history["loss"][0]
