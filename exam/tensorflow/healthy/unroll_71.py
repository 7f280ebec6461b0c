"""Gradient through a few steps of gradient descent: an outer derivative of the learning rate."""

import tensorflow as tf

rate = tf.Variable(0.1)
with tf.GradientTape() as outer:
    w = tf.constant([2.0, -3.0])
    for _ in range(3):
        with tf.GradientTape() as inner:
            inner.watch(w)
            value = tf.reduce_sum(w**2)
        w = w - rate * inner.gradient(value, w)
    final = tf.reduce_sum(w**2)
assert float(outer.gradient(final, rate)) < 0
