"""Gradients by the variables of a model, not by copies of their values."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
weights = model.trainable_variables
grads = tape.gradient(loss, weights)
assert len(grads) == 2
