"""The variables are updated in place."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
w, b = tf.Variable(tf.random.normal((3, 1))), tf.Variable(tf.zeros((1,)))
x = tf.random.normal((50, 3))
y = tf.reduce_sum(x, axis=1, keepdims=True)
before = w.numpy()
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)
    for v, g in zip([w, b], tape.gradient(loss, [w, b])):
        v.assign_sub(0.1 * g)
assert not np.array_equal(before, w.numpy())
