# Python state beside a compiled step: counters, lists of floats, a decayed rate given as a tensor
import numpy as np
import tensorflow as tf

tf.random.set_seed(16)
w, b = tf.Variable(tf.zeros((2, 1))), tf.Variable(tf.zeros(1))
x = tf.random.normal((40, 2))
y = x @ tf.constant([[1.0], [2.0]]) + 0.3
history, steps = [], 0


@tf.function
def step(x, y, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(rate * dw)
    b.assign_sub(rate * db)
    return loss


for epoch in range(5):
    for i in range(0, 40, 10):
        value = step(x[i : i + 10], y[i : i + 10], tf.constant(0.1 * 0.9**epoch))
        history.append(float(value))
        steps += 1
assert history[-1] < history[0]
assert steps == 20
