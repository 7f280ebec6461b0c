"""A function of tensors inside tf.py_function, which has a gradient."""

import numpy as np
import tensorflow as tf


def squash(values):
    return tf.tanh(values)


w = tf.Variable([0.1, 0.2, 0.3])
x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.py_function(squash, [w * x], tf.float32)
    loss = tf.reduce_sum(y**2)
grad = tape.gradient(loss, w)
assert np.any(grad.numpy())
