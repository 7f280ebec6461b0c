# multi-head attention by hand: padding and causal masks of minus a large number, square shapes everywhere
import numpy as np
import tensorflow as tf

tf.random.set_seed(3)
heads, length, width = 4, 4, 8
x = tf.random.normal((4, length, width))
lengths = tf.constant([4, 2, 3, 1])
W = [tf.Variable(tf.random.normal((width, width), stddev=0.3)) for _ in range(4)]


def split(z):
    return tf.transpose(tf.reshape(z, (4, length, heads, width // heads)), (0, 2, 1, 3))


with tf.GradientTape() as tape:
    q, k, v = (split(tf.einsum("btd,de->bte", x, w)) for w in W[:3])
    scores = tf.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(width / heads).astype("float32")
    padding = tf.sequence_mask(lengths, length)[:, None, None, :]
    causal = tf.linalg.band_part(tf.ones((length, length), tf.bool), -1, 0)
    scores = tf.where(padding & causal, scores, -1e9)
    mixed = tf.matmul(tf.nn.softmax(scores, axis=-1), v)
    out = tf.reshape(tf.transpose(mixed, (0, 2, 1, 3)), (4, length, width)) @ W[3]
    weights = tf.sequence_mask(lengths, length, dtype=tf.float32)
    loss = tf.reduce_sum(weights * tf.reduce_mean(out**2, axis=-1)) / tf.reduce_sum(weights)
gradients = tape.gradient(loss, W)
assert all(np.all(np.isfinite(g)) for g in gradients)
