"""Data that passes through NumPy before the tape: shuffling and scaling with tensors converted to arrays."""

import numpy as np
import tensorflow as tf

raw = tf.random.stateless_normal([20, 3], seed=[1, 9])
scaled = (raw.numpy() - raw.numpy().mean(axis=0)) / raw.numpy().std(axis=0)
order = np.random.default_rng(0).permutation(20)
w = tf.Variable(tf.zeros([3, 1]))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((tf.constant(scaled[order]) @ w - 1.0) ** 2)
assert tape.gradient(loss, w) is not None
