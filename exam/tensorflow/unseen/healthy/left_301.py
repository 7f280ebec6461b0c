"""The outputs of the members of an ensemble are stacked by TensorFlow."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
members = [tf.keras.layers.Dense(1) for _ in range(3)]
x, y = tf.random.normal((20, 4)), tf.random.normal((20, 1))
with tf.GradientTape() as tape:
    outputs = tf.stack([member(x) for member in members])
    loss = tf.reduce_mean((tf.reduce_mean(outputs, axis=0) - y) ** 2)
variables = [v for member in members for v in member.trainable_variables]
grads = tape.gradient(loss, variables)
assert all(g is not None for g in grads)
