# expect: GT103
# cause: the row sums of a square matrix are divided by without keepdims, so they scale the columns
# wrong: not np.allclose(tf.reduce_sum(attention, axis=1), 1.0, atol=1e-4)
# cure: tf.reduce_sum(scores, axis=1) -> tf.reduce_sum(scores, axis=1, keepdims=True)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(4)
tokens = tf.constant(rng.normal(size=(6, 8)), dtype=tf.float32)
Wq = tf.Variable(rng.normal(size=(8, 8)) * 0.2, dtype=tf.float32)
Wk = tf.Variable(rng.normal(size=(8, 8)) * 0.2, dtype=tf.float32)


def attend(x):
    q, k = x @ Wq, x @ Wk
    scores = tf.exp(q @ tf.transpose(k) / 8**0.5)
    attention = scores / tf.reduce_sum(scores, axis=1)  # <- here
    return attention, attention @ x


with tf.GradientTape() as tape:
    attention, mixed = attend(tokens)
    loss = tf.reduce_mean((mixed - tokens) ** 2)
grads = tape.gradient(loss, [Wq, Wk])
print([float(tf.norm(g)) for g in grads])
