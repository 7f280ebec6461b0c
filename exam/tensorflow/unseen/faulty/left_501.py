# expect: GT201 because GT210
# cause: the attention weights go through NumPy, so nothing in front of them gets a gradient
# wrong: any(g is None for g in grads)
# cure: tf.constant(softmax(scores.numpy())) -> tf.nn.softmax(scores, axis=-1)
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
    weights = tf.constant(softmax(scores.numpy()))  # <- here
    return tf.matmul(weights, tokens)


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(attend(tokens) ** 2)
grads = tape.gradient(loss, query.trainable_variables + key.trainable_variables)  # <- asked
