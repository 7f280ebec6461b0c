# expect: GT110
# cause: the table of positions has 20 rows, and the sequence 12
# wrong: raises InvalidArgumentError
# cure: return vectors + table -> return vectors + table[: vectors.shape[1]]
import numpy as np
import tensorflow as tf


def sinusoids(length, width):
    position = np.arange(length)[:, None]
    rate = 1.0 / 10000 ** (np.arange(0, width, 2) / width)
    return np.concatenate([np.sin(position * rate), np.cos(position * rate)], axis=1).astype("float32")


def add_positions(vectors, table):
    return vectors + table  # <- here


MAX_LENGTH, WIDTH = 20, 8
embedding = tf.keras.layers.Embedding(30, WIDTH)
tokens = tf.constant(np.random.default_rng(0).integers(0, 30, (2, 12)))
table = tf.constant(sinusoids(MAX_LENGTH, WIDTH))
with tf.GradientTape() as tape:
    encoded = add_positions(embedding(tokens), table)  # <- asked
    loss = tf.reduce_mean(encoded**2)
