"""A straight-through estimator: rounded on the way forward, identity on the way back."""

import numpy as np
import tensorflow as tf

w = tf.Variable([0.2, 0.7, 1.4])
x = tf.constant([[1.0, 2.0, 3.0], [0.5, 0.1, -1.0]])
with tf.GradientTape() as tape:
    quantised = w + tf.stop_gradient(tf.round(w) - w)
    loss = tf.reduce_sum(tf.linalg.matvec(x, quantised) ** 2)
g = tape.gradient(loss, w)
assert np.allclose(quantised.numpy(), [0.0, 1.0, 1.0])
assert np.any(g.numpy())
