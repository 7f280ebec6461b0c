"""Logarithms of probabilities, and their negative mean as the loss."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(4, activation="log_softmax")])
loss_function = keras.losses.SparseCategoricalCrossentropy()
x = tf.random.normal((32, 6))
y = tf.argmax(x[:, :4], axis=1)
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(tf.gather(model(x), y, batch_dims=1))
grads = tape.gradient(loss, model.trainable_variables)
assert np.any(grads[0].numpy())
