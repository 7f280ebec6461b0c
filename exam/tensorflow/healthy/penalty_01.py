"""WGAN-GP: the gradient penalty needs a tape inside a tape."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
critic = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-3)
real = tf.random.normal((16, 2), mean=1.0)
fake = tf.random.normal((16, 2))


def gradient_penalty(real, fake):
    alpha = tf.random.uniform((16, 1))
    mixed = real + alpha * (fake - real)
    with tf.GradientTape() as inner:
        inner.watch(mixed)
        score = critic(mixed, training=True)
    grads = inner.gradient(score, mixed)
    norm = tf.sqrt(tf.reduce_sum(tf.square(grads), axis=1) + 1e-12)
    return tf.reduce_mean((norm - 1.0) ** 2)


with tf.GradientTape() as tape:
    penalty = gradient_penalty(real, fake)
    loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * penalty
grads = tape.gradient(loss, critic.trainable_variables)
opt.apply_gradients(zip(grads, critic.trainable_variables))
assert np.any(grads[0].numpy())
