"""Integers and float64 are cast where they are used; a count of right answers is an integer."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
w = tf.Variable(tf.zeros((3,)))
for _ in range(6):
    with tf.GradientTape() as tape:
        score = tf.linalg.matvec(tf.cast(x, tf.float32), w)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(y, tf.float32), score))
    w.assign_sub(tape.gradient(loss, w))
    right = tf.reduce_sum(tf.cast((score > 0) == (y > 0), tf.int32))
assert int(right) > 0
