# expect: GT201 or GT404 because GT210
# cause: the function inside tf.py_function turns its tensor into an array, so that no gradient passes it
# wrong: grad is None or not np.any(grad.numpy())
# cure: np.tanh(values.numpy()) -> tf.tanh(values)
import numpy as np
import tensorflow as tf


def squash(values):
    return np.tanh(values.numpy())  # <- here


w = tf.Variable([0.1, 0.2, 0.3])
x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = tf.py_function(squash, [w * x], tf.float32)  # <- here
    loss = tf.reduce_sum(y**2)
grad = tape.gradient(loss, w)  # <- asked
