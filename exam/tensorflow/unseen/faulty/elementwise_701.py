# expect: GT110
# cause: the padding mask is (batch, keys) and is added to scores (batch, heads, queries, keys) without the axes between
# wrong: raises InvalidArgumentError
# cure: (1.0 - mask) * -1e9  # <- here -> (1.0 - mask)[:, None, None, :] * -1e9
import numpy as np
import tensorflow as tf


class SelfAttention(tf.keras.layers.Layer):
    def __init__(self, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv = tf.keras.layers.Dense(3 * heads * size)
        self.out = tf.keras.layers.Dense(heads * size)

    def call(self, x, mask):
        batch, length = x.shape[0], x.shape[1]
        qkv = tf.reshape(self.qkv(x), (batch, length, 3, self.heads, self.size))
        q, k, v = tf.unstack(tf.transpose(qkv, (2, 0, 3, 1, 4)))
        scores = tf.matmul(q, k, transpose_b=True) / self.size**0.5
        scores += (1.0 - mask) * -1e9  # <- here
        mixed = tf.matmul(tf.nn.softmax(scores), v)
        return self.out(tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (batch, length, -1)))


tf.random.set_seed(2)
words = tf.random.normal((4, 6, 8))
mask = tf.sequence_mask([6, 3, 5, 2], 6, dtype=tf.float32)
attention = SelfAttention(2, 4)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(attention(words, mask) ** 2)  # <- asked
gradients = tape.gradient(loss, attention.trainable_weights)
