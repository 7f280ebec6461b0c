"""Embeddings are divided by their lengths, which keep the axis."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
project = tf.keras.layers.Dense(12)
x = tf.random.normal((12, 5))
with tf.GradientTape() as tape:
    z = project(x)
    unit = z / tf.norm(z, axis=1, keepdims=True)
    similarity = tf.matmul(unit, unit, transpose_b=True) / 0.1
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(12), logits=similarity))
grads = tape.gradient(loss, project.trainable_variables)
assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-3)
