"""An exponential moving average of the weights, kept in variables that are assigned to."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(40, 3)).astype("float32")
y = x @ np.array([[1.0], [2.0], [3.0]], dtype="float32")
w = tf.Variable(tf.zeros((3, 1)))
average = tf.Variable(tf.zeros((3, 1)), trainable=False)
for step in range(50):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    average.assign(0.9 * average + 0.1 * w)
assert np.allclose(average.numpy(), w.numpy(), atol=0.1)
