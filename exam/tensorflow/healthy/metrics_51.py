"""A confusion matrix, rounding and counts inside the tape, beside the loss and not part of it."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(60, 2)).astype("float32")
y = (x[:, 0] > 0).astype("float32")
w, b = tf.Variable(tf.zeros(2)), tf.Variable(0.0)
hits = []
for _ in range(10):
    with tf.GradientTape() as tape:
        p = tf.sigmoid(tf.linalg.matvec(x, w) + b)
        correct = tf.reduce_sum(tf.cast(tf.equal(tf.round(p), y), tf.int32))
        loss = tf.reduce_mean(-y * tf.math.log(p + 1e-7) - (1 - y) * tf.math.log(1 - p + 1e-7))
    hits.append(int(correct))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.5 * dw)
    b.assign_sub(0.5 * db)
assert hits[-1] > 50
