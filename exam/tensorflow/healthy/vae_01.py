"""A VAE with the reparameterisation trick and a sum of two losses."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
encoder = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4)])
decoder = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(6)])
x = (np.random.rand(32, 6) > 0.5).astype("float32")
opt = keras.optimizers.Adam(0.02)
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        mean, log_var = tf.split(encoder(x), 2, axis=1)
        z = mean + tf.exp(0.5 * log_var) * tf.random.normal(tf.shape(mean))
        nll = tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=decoder(z)), axis=1)
        kl = -0.5 * tf.reduce_sum(1 + log_var - mean**2 - tf.exp(log_var), axis=1)
        loss = tf.reduce_mean(nll + kl)
    variables = encoder.trainable_variables + decoder.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
