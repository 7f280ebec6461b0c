"""Multi-head attention by einsum, with a causal mask of -1e9 and a residual connection."""

import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal([2, 6, 8])
wq, wk, wv = (tf.Variable(tf.random.normal([8, 2, 4]) * 0.3) for _ in range(3))
mask = tf.linalg.band_part(tf.ones([6, 6]), -1, 0)
with tf.GradientTape() as tape:
    q, k, v = (tf.einsum("btf,fhd->bthd", x, w) for w in (wq, wk, wv))
    scores = tf.einsum("bqhd,bkhd->bhqk", q, k) / 2.0 - 1e9 * (1.0 - mask)
    mixed = tf.einsum("bhqk,bkhd->bqhd", tf.nn.softmax(scores, axis=-1), v)
    loss = tf.reduce_mean(tf.square(x + tf.reshape(mixed, [2, 6, 8])))
grads = tape.gradient(loss, [wq, wk, wv])
assert all(bool(tf.reduce_any(g != 0)) for g in grads)
