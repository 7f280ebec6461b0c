# a GAN as one keras model with two optimisers: each step has gradients for one of the networks only
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)


class GAN(keras.Model):
    def __init__(self, generator, discriminator, latent):
        super().__init__()
        self.generator, self.discriminator, self.latent = generator, discriminator, latent

    def compile(self, d_optimizer, g_optimizer):
        super().compile()
        self.d_optimizer, self.g_optimizer = d_optimizer, g_optimizer
        self.loss_fn = keras.losses.BinaryCrossentropy(from_logits=True)

    def train_step(self, real):
        n = tf.shape(real)[0]
        fake = self.generator(tf.random.normal((n, self.latent)))
        both = tf.concat([fake, real], axis=0)
        labels = tf.concat([tf.ones((n, 1)), tf.zeros((n, 1))], axis=0)
        with tf.GradientTape() as tape:
            d_loss = self.loss_fn(labels, self.discriminator(both))
        grads = tape.gradient(d_loss, self.discriminator.trainable_weights)
        self.d_optimizer.apply_gradients(zip(grads, self.discriminator.trainable_weights))
        with tf.GradientTape() as tape:
            verdict = self.discriminator(self.generator(tf.random.normal((n, self.latent))))
            g_loss = self.loss_fn(tf.zeros((n, 1)), verdict)
        grads = tape.gradient(g_loss, self.generator.trainable_weights)
        self.g_optimizer.apply_gradients(zip(grads, self.generator.trainable_weights))
        return {"d_loss": d_loss, "g_loss": g_loss}


generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential(
    [keras.Input((2,)), keras.layers.Dense(16), keras.layers.LeakyReLU(), keras.layers.Dense(1)]
)
gan = GAN(generator, discriminator, 4)
gan.compile(keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3))
before = generator.layers[0].kernel.numpy().copy()
gan.fit(np.random.default_rng(0).normal(size=(64, 2)).astype("float32"), epochs=2, batch_size=16, verbose=0)
assert not np.array_equal(before, generator.layers[0].kernel.numpy())
