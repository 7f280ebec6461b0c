"""Positive outputs for a loss of logarithms."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
x = tf.random.uniform((32, 3))
y = 5.0 * tf.reduce_sum(x, axis=1, keepdims=True)
model = keras.Sequential([keras.layers.Dense(1, activation="softplus")])
with tf.GradientTape() as tape:
    predicted = model(x)
    loss = tf.reduce_mean(keras.losses.mean_squared_logarithmic_error(y, predicted))
grads = tape.gradient(loss, model.trainable_variables)
assert any(np.any(g.numpy()) for g in grads)
