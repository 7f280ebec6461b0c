import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(21)
images = tf.constant(np.random.rand(6, 8, 8, 3), tf.float32)
autoencoder = keras.Sequential(
    [
        keras.Input((8, 8, 3)),
        keras.layers.Conv2D(6, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2DTranspose(6, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(3, 3, padding="same", activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.Adam()
for step in range(3):
    with tf.GradientTape() as tape:
        restored = autoencoder(images, training=True)
        loss = tf.reduce_mean(tf.square(images - restored))
    gradients = tape.gradient(loss, autoencoder.trainable_variables)
    optimizer.apply_gradients(zip(gradients, autoencoder.trainable_variables))
assert not (tuple(restored.shape) != tuple(images.shape))
