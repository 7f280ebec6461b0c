# expect: GT403
# cause: the power of negative depths is hidden by where, and its gradient is not
# wrong: not np.all(np.isfinite(g.numpy()))
# cure: depth**1.5 -> tf.maximum(depth, 0.0)**1.5
import numpy as np
import tensorflow as tf

level = tf.Variable(0.5)
bed = tf.constant([0.1, 0.3, 0.7, 0.9])


def discharge(depth):
    return tf.where(depth > 0.0, depth**1.5, tf.zeros_like(depth))  # <- here


with tf.GradientTape() as tape:
    total = tf.reduce_sum(discharge(level - bed))
g = tape.gradient(total, level)  # <- asked
