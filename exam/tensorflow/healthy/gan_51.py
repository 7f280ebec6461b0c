"""A GAN with alternating steps, each with its own tape; the fake is a constant for the discriminator."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
gen = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
disc = keras.Sequential([keras.layers.Dense(8), keras.layers.LeakyReLU(), keras.layers.Dense(1)])
g_opt, d_opt = keras.optimizers.Adam(0.01), keras.optimizers.Adam(0.01)
real = np.random.normal(2, 1, size=(24, 2)).astype("float32")
for _ in range(4):
    fake = tf.stop_gradient(gen(tf.random.normal((24, 3))))
    with tf.GradientTape() as tape:
        d_loss = tf.reduce_mean(tf.nn.softplus(-disc(real)) + tf.nn.softplus(disc(fake)))
    d_opt.apply_gradients(zip(tape.gradient(d_loss, disc.trainable_variables), disc.trainable_variables))
    with tf.GradientTape() as tape:
        g_loss = tf.reduce_mean(tf.nn.softplus(-disc(gen(tf.random.normal((24, 3))))))
    g_opt.apply_gradients(zip(tape.gradient(g_loss, gen.trainable_variables), gen.trainable_variables))
assert np.isfinite(float(d_loss))
assert np.isfinite(float(g_loss))
