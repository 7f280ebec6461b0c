import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(16)
x = tf.constant(np.random.randn(32, 10), tf.float32)
encoder, decoder = tf.keras.layers.Dense(4), tf.keras.layers.Dense(10)
codebook = tf.Variable(tf.random.normal((8, 4)), name="codebook")
encoder.build((None, 10))
optimizer = tf.keras.optimizers.Adam(1e-3)


def quantise(code):
    distances = tf.reduce_sum((code[:, None, :] - codebook[None, :, :]) ** 2, axis=2)
    nearest = tf.argmin(distances, axis=1)
    return tf.gather(codebook, nearest)


with tf.GradientTape() as tape:
    code = encoder(x)
    quantised = quantise(code)
    restored = decoder(code + tf.stop_gradient(quantised - code))
    loss = tf.reduce_mean((restored - x) ** 2)
gradients = tape.gradient(loss, encoder.trainable_variables)
assert gradients[0] is not None
