# padding: masked positions have no loss, some rows are short, the embedding's row 0 gets no gradient
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(8)
rng = np.random.default_rng(8)
lengths = rng.integers(1, 9, 32)
tokens = np.zeros((32, 9), "int32")
for i, n in enumerate(lengths):
    tokens[i, :n] = rng.integers(1, 20, n)
tags = np.where(tokens > 10, 2, np.where(tokens > 0, 1, 0))

inputs = tf.keras.Input((None,), dtype="int32")
h = layers.Embedding(20, 8, mask_zero=True)(inputs)
h = layers.Bidirectional(layers.LSTM(6, return_sequences=True))(h)
model = tf.keras.Model(inputs, layers.Dense(3)(h))


def masked_loss(y, logits):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(y, tf.int32), logits)
    keep = tf.cast(y > 0, losses.dtype)
    return tf.reduce_sum(losses * keep) / tf.maximum(tf.reduce_sum(keep), 1.0)


model.compile(tf.keras.optimizers.Adam(0.02), masked_loss)
log = model.fit(tokens, tags, epochs=3, batch_size=8, verbose=0)
assert log.history["loss"][-1] < log.history["loss"][0]
