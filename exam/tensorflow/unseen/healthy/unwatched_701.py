import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(52)
critic = keras.Sequential([keras.Input((2,)), keras.layers.Dense(16), keras.layers.LeakyReLU(), keras.layers.Dense(1)])
generator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(2)])
optimizer = keras.optimizers.Adam(1e-4, beta_1=0.0)


def gradient_penalty(real, fake):
    share = tf.random.uniform((real.shape[0], 1))
    mixed = share * real + (1.0 - share) * fake
    with tf.GradientTape() as penalty_tape:
        penalty_tape.watch(mixed)
        scores = critic(mixed)
    slopes = penalty_tape.gradient(scores, mixed)
    norms = tf.sqrt(tf.reduce_sum(tf.square(slopes), axis=1))
    return tf.reduce_mean((norms - 1.0) ** 2)


real = tf.constant(np.random.randn(16, 2), tf.float32)
fake = tf.constant(generator.predict(np.random.randn(16, 3), verbose=0))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * gradient_penalty(real, fake)
optimizer.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
assert np.isfinite(float(loss))
