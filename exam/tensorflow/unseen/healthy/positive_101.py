"""relu at the end of a model of counts, which are positive."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(30, 3)), tf.float32)
y = tf.nn.relu(tf.reduce_sum(x, 1, keepdims=True))
w = tf.Variable(tf.constant(rng.normal(size=(3, 8)) * 0.5, tf.float32))
v = tf.Variable(tf.constant(rng.normal(size=(8, 1)) * 0.5, tf.float32))
for _ in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(tf.tanh(x @ w) @ v + 0.3) - y))
    grads = tape.gradient(loss, [w, v])
    w.assign_sub(0.1 * grads[0])
    v.assign_sub(0.1 * grads[1])
assert float(loss) >= 0
