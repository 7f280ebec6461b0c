"""A mask of keys with an axis for the queries."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
attention = keras.layers.MultiHeadAttention(num_heads=2, key_dim=8)
words = tf.random.normal((6, 9, 16))
real = tf.sequence_mask([9, 4, 7, 5, 9, 2], 9)
with tf.GradientTape() as tape:
    out = attention(words, words, attention_mask=real[:, None, :])
    loss = tf.reduce_mean(out**2)
grads = tape.gradient(loss, attention.trainable_variables)
assert out.shape == (6, 9, 16)
