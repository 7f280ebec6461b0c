"""A GAN with two tapes, real and fake scores, and two optimisers."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
generator = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
real = np.random.normal(3.0, 1.0, size=(32, 2)).astype("float32")


@tf.function
def train_step(real):
    noise = tf.random.normal((32, 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise, training=True)
        real_out = discriminator(real, training=True)
        fake_out = discriminator(fake, training=True)
        g_loss = bce(tf.ones_like(fake_out), fake_out)
        d_loss = bce(tf.ones_like(real_out), real_out) + bce(tf.zeros_like(fake_out), fake_out)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
    d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    return g_loss, d_loss


first = [float(v) for v in train_step(real)]
for _ in range(5):
    last = [float(v) for v in train_step(real)]
assert np.isfinite(last).all()
assert last != first
