"""Weights that are saved and put back: a line search by hand."""

import tensorflow as tf

w = tf.Variable([2.0, -1.0])


def f():
    return tf.reduce_sum((w - tf.constant([0.5, 0.5])) ** 4)


for _ in range(4):
    with tf.GradientTape() as tape:
        value = f()
    g = tape.gradient(value, w)
    kept, rate = tf.identity(w), 1.0
    w.assign(kept - rate * g)
    while f() > value and rate > 1e-6:
        rate /= 2
        w.assign(kept - rate * g)
assert float(f()) < 5.0
