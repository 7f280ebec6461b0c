"""Tapes inside tapes: second derivatives, and a penalty on the gradient."""

import tensorflow as tf

x = tf.Variable(1.0)
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        y = x * x * x
    dy_dx = t1.gradient(y, x)
d2y_dx2 = t2.gradient(dy_dx, x)
print("dy_dx:", dy_dx.numpy())
print("d2y_dx2:", d2y_dx2.numpy())

w = tf.Variable([[0.5, -1.0], [2.0, 0.25]])
inputs = tf.constant([[1.0, 2.0], [3.0, -1.0]])
with tf.GradientTape() as t2:
    with tf.GradientTape(watch_accessed_variables=False) as t1:
        t1.watch(inputs)
        y = tf.tanh(inputs @ w)
        out = tf.reduce_sum(y**2)
    g1 = t1.gradient(out, inputs)
    g1_mag = tf.norm(g1)
dg1_mag = t2.gradient(g1_mag, w)
print(g1)
print(g1_mag)
print(dg1_mag)
