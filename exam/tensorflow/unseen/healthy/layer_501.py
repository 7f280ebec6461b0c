"""A decoder that takes the code and the condition."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(25)
encoder = keras.Sequential([keras.Input((10,)), keras.layers.Dense(4)])
decoder = keras.Sequential([keras.Input((6,)), keras.layers.Dense(10)])
x, condition = tf.random.normal((5, 10)), tf.random.normal((5, 2))


def conditional_autoencoder(x, condition):
    code = encoder(x)
    return decoder(tf.concat([code, condition], axis=1))


with tf.GradientTape() as tape:
    loss = tf.reduce_mean((conditional_autoencoder(x, condition) - x) ** 2)
grads = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
assert len(grads) == 4
