"""keras MultiHeadAttention with a residual, layer normalisation and a padding mask."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
attend, norm = layers.MultiHeadAttention(2, 4), layers.LayerNormalization()
x = tf.random.normal([2, 5, 8])
mask = tf.sequence_mask([3, 5], 5)[:, tf.newaxis, :]
with tf.GradientTape() as tape:
    h = norm(x + attend(x, x, attention_mask=mask))
    loss = tf.reduce_mean(h[:, 0] ** 2 * tf.range(8.0))
grads = tape.gradient(loss, attend.trainable_variables)
assert any(g is not None for g in grads)
