"""The log is taken of a safe argument."""

import numpy as np
import tensorflow as tf

z0 = tf.constant([-1.0, 0.0, 0.5, 2.0])
shift = tf.Variable(0.0)


@tf.function
def utility(shift):
    z = z0 + shift
    return tf.reduce_sum(tf.where(z > 0, tf.math.log(tf.where(z > 0, z, 1.0)), tf.zeros_like(z)))


with tf.GradientTape() as tape:
    value = utility(shift)
grad = tape.gradient(value, shift)
assert np.isfinite(grad.numpy()).all()
