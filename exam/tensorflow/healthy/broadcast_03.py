"""Centring and scaling of features, and a bias: one row against many, as it is meant."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
x = tf.constant(rng.normal(3.0, 2.0, size=(12, 12)), tf.float32)
gamma, beta = tf.Variable(tf.ones(12)), tf.Variable(tf.zeros(12))
with tf.GradientTape() as tape:
    mean = tf.reduce_mean(x, axis=-1, keepdims=True)
    std = tf.math.reduce_std(x, axis=-1, keepdims=True)
    normed = (x - mean) / (std + 1e-5)
    out = normed * gamma + beta
    loss = tf.reduce_mean(tf.nn.relu(out))
dg, db = tape.gradient(loss, [gamma, beta])
assert np.allclose(tf.reduce_mean(normed, axis=1), 0.0, atol=1e-5)
assert dg.shape == db.shape == (12,)
