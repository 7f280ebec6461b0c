"""Logistic regression from zero weights: one unit, so there is nothing to tell apart."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
x = rng.normal(size=(80, 2)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
w, b = tf.Variable(tf.zeros((2, 1))), tf.Variable(tf.zeros(1))
for step in range(30):
    with tf.GradientTape() as tape:
        logits = x @ w + b
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(1.0 * dw)
    b.assign_sub(1.0 * db)
assert float(loss) < 0.3
