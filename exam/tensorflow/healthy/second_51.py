"""A Hessian by the Jacobian of a gradient."""

import numpy as np
import tensorflow as tf

A = tf.constant([[2.0, 1.0], [1.0, 3.0]])
x = tf.Variable([0.5, -1.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        f = 0.5 * tf.tensordot(x, tf.linalg.matvec(A, x), axes=1)
    g = inner.gradient(f, x)
H = outer.jacobian(g, x)
assert np.allclose(H.numpy(), A.numpy())
