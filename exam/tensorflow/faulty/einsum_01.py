# expect: GT112 or GT111
# cause: the subscripts sum the key's features against the query's time steps
# wrong: raises InvalidArgumentError
# cure: "bqd,bdk->bqk" -> "bqd,bkd->bqk"
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
q = tf.Variable(rng.normal(size=(2, 5, 8)), dtype=tf.float32)
k = tf.Variable(rng.normal(size=(2, 6, 8)), dtype=tf.float32)


def attention_scores(q, k):
    return tf.einsum("bqd,bdk->bqk", q, k)  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.nn.softmax(attention_scores(q, k))[..., 0])  # <- asked
tape.gradient(loss, [q, k])
