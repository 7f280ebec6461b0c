# expect: GT501
# cause: the attention weights are normalised over the queries instead of the keys
# wrong: not np.allclose(tf.reduce_sum(weights, axis=2), 1.0, atol=1e-4)
# cure: axis=1, name="attention" -> axis=2, name="attention"
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
queries = tf.constant(rng.normal(size=(2, 5, 8)), tf.float32)
memory = tf.constant(rng.normal(size=(2, 7, 8)), tf.float32)
W = tf.Variable(rng.normal(size=(8, 8)) * 0.3, dtype=tf.float32)

with tf.GradientTape() as tape:
    scores = tf.einsum("bqd,bkd->bqk", queries @ W, memory)
    weights = tf.nn.softmax(scores, axis=1, name="attention")  # <- here
    context = tf.einsum("bqk,bkd->bqd", weights, memory)  # <- asked
    loss = tf.reduce_mean((context - queries) ** 2)
g = tape.gradient(loss, W)
