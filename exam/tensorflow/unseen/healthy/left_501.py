"""Attention in TensorFlow, with its weights shown by NumPy afterwards."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
query, key = tf.keras.layers.Dense(4, use_bias=False), tf.keras.layers.Dense(4, use_bias=False)
tokens = tf.random.normal((2, 5, 4))


def softmax(scores):
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attend(tokens):
    scores = tf.matmul(query(tokens), key(tokens), transpose_b=True)
    weights = tf.nn.softmax(scores, axis=-1)
    return tf.matmul(weights, tokens)


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(attend(tokens) ** 2)
grads = tape.gradient(loss, query.trainable_variables + key.trainable_variables)
assert softmax(tf.matmul(query(tokens), key(tokens), transpose_b=True).numpy()).shape == (2, 5, 5)
assert all(g is not None for g in grads)
