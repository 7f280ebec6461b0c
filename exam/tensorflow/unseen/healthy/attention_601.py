# a decoder's attention with an additive mask of large negative numbers
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(18)


class CausalAttention(tf.keras.layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.width, self.heads = width, heads
        self.qkv, self.out = tf.keras.layers.Dense(3 * width), tf.keras.layers.Dense(width)

    def split(self, x):
        x = tf.reshape(x, (x.shape[0], x.shape[1], self.heads, self.width // self.heads))
        return tf.transpose(x, (0, 2, 1, 3))

    def call(self, x):
        q, k, v = (self.split(part) for part in tf.split(self.qkv(x), 3, axis=-1))
        scores = q @ tf.transpose(k, (0, 1, 3, 2)) / (self.width // self.heads) ** 0.5
        length = x.shape[1]
        mask = tf.linalg.band_part(tf.ones((length, length)), -1, 0)
        weights = tf.nn.softmax(scores + (1.0 - mask) * -1e9, axis=-1)
        joined = tf.transpose(weights @ v, (0, 2, 1, 3))
        return self.out(tf.reshape(joined, (x.shape[0], length, self.width)))


layer, head = CausalAttention(8, 2), tf.keras.layers.Dense(10)
tokens = np.random.default_rng(18).integers(0, 10, (8, 9))
embedding = tf.keras.layers.Embedding(10, 8)
optimizer = tf.keras.optimizers.Adam(0.02)
losses = []
for _ in range(6):
    with tf.GradientTape() as tape:
        logits = head(layer(embedding(tokens[:, :-1])))
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(tokens[:, 1:], logits))
    variables = embedding.trainable_variables + layer.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
