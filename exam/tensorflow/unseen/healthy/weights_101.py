"""Weights of examples: a vector times a vector, and a column times a column."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(24, 5)), tf.float32)
labels = tf.constant(rng.integers(0, 3, 24))
weight = tf.gather(tf.constant([1.0, 2.0, 0.5]), labels)
w = tf.Variable(tf.constant(rng.normal(size=(5, 3)), tf.float32))
for _ in range(3):
    with tf.GradientTape() as tape:
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x @ w)
        loss = tf.reduce_mean(each * weight) + tf.reduce_mean(each[:, None] * weight[:, None])
    w.assign_sub(0.1 * tape.gradient(loss, w))
assert float(loss) > 0
