# expect: GT404 or GT504
# cause: the regression ends in relu, and every output is below zero before it
# wrong: all(not np.any(g.numpy()) for g in grads)
# cure: tf.nn.relu(h @ v - 4.0) -> h @ v - 4.0
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.uniform(size=(30, 3)), tf.float32)
y = tf.constant(rng.normal(size=(30, 1)) - 6, tf.float32)
w = tf.Variable(tf.constant(rng.normal(size=(3, 8)) * 0.3, tf.float32))
v = tf.Variable(tf.constant(rng.normal(size=(8, 1)) * 0.3, tf.float32))
for _ in range(3):
    with tf.GradientTape() as tape:
        h = tf.tanh(x @ w)
        out = tf.nn.relu(h @ v - 4.0)  # <- here
        loss = tf.reduce_mean(tf.square(out - y))
    grads = tape.gradient(loss, [w, v])  # <- asked
    w.assign_sub(0.1 * grads[0])
    v.assign_sub(0.1 * grads[1])
