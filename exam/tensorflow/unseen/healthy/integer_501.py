"""Temperatures as floats."""

import tensorflow as tf

temperature = tf.Variable([10.0, 20.0, 30.0])


def growth():
    t = temperature / 40.0
    return tf.reduce_sum(t * tf.exp(-t))


with tf.GradientTape() as tape:
    rate = growth()
slope = tape.gradient(rate, temperature)
assert slope is not None
