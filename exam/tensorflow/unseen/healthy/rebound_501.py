"""A descent that assigns."""

import tensorflow as tf

tf.random.set_seed(6)
x = tf.random.normal((30, 3))
y = tf.linalg.matvec(x, [1.0, 2.0, -1.0])
w = tf.Variable(tf.zeros(3))
for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
    dw = tape.gradient(loss, w)
    w.assign_sub(0.1 * dw)
assert float(loss) < 6
