import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(73)
spectra = tf.constant(np.random.rand(20, 11), tf.float32)
encoder = keras.Sequential([keras.Input((11,)), keras.layers.Dense(4, activation="tanh")])
decoder = keras.Sequential([keras.Input((4,)), keras.layers.Dense(11)])
optimizer = keras.optimizers.Adam(0.01)

for epoch in range(3):
    with tf.GradientTape() as tape:
        restored = decoder(encoder(spectra))
        loss = tf.reduce_mean(tf.square(restored - spectra))
    gradients = tape.gradient(loss, encoder.trainable_variables + decoder.trainable_variables)
    optimizer.apply_gradients(zip(gradients, encoder.trainable_variables + decoder.trainable_variables))
assert np.isfinite(float(loss))
