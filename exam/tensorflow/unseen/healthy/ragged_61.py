"""Sequences of different lengths: a mask of time steps, and a mean over those that count."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
lengths = tf.constant([3, 5, 2, 4])
x = tf.random.normal([4, 5, 2])
mask = tf.sequence_mask(lengths, 5, dtype=tf.float32)
cell = tf.keras.layers.GRU(3, return_sequences=True)
head = tf.keras.layers.Dense(1)
with tf.GradientTape() as tape:
    errors = tf.squeeze(head(cell(x)), -1) ** 2
    loss = tf.reduce_sum(errors * mask) / tf.reduce_sum(mask)
grads = tape.gradient(loss, cell.trainable_variables + head.trainable_variables)
assert all(g is not None and np.isfinite(g.numpy()).all() for g in grads)
