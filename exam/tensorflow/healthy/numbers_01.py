"""Minus infinity as an attention mask: meant, and finite after the softmax."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
q = tf.Variable(rng.normal(size=(2, 5, 4)), dtype=tf.float32)
k = tf.Variable(rng.normal(size=(2, 5, 4)), dtype=tf.float32)
causal = tf.linalg.band_part(tf.ones((5, 5)), -1, 0)
with tf.GradientTape() as tape:
    scores = tf.matmul(q, k, transpose_b=True) / 2.0
    scores = tf.where(causal > 0, scores, -np.inf)
    weights = tf.nn.softmax(scores, axis=-1)
    loss = tf.reduce_mean(weights**2)
gq, gk = tape.gradient(loss, [q, k])
assert np.isfinite(gq.numpy()).all()
assert np.isfinite(gk.numpy()).all()
