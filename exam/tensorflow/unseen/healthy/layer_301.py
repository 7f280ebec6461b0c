"""The state of the encoder starts the decoder, which has as many units."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
source, target = tf.random.normal((8, 7, 3)), tf.random.normal((8, 6, 3))
encoder = keras.layers.GRU(16, return_state=True)
decoder = keras.layers.GRU(16, return_sequences=True)
with tf.GradientTape() as tape:
    _, state = encoder(source)
    out = decoder(target, initial_state=state)
    loss = tf.reduce_mean(out**2)
grads = tape.gradient(loss, encoder.trainable_variables)
assert out.shape == (8, 6, 16)
