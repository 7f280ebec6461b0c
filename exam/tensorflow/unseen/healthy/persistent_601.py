# a persistent tape, Jacobians and second derivatives, with sources that are constants and watched
import numpy as np
import tensorflow as tf

x = tf.constant([0.5, 1.0, 2.0])
with tf.GradientTape(persistent=True) as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = x**3
    first = inner.gradient(y, x)
second = outer.gradient(first, x)
jacobian = outer.jacobian(first, x)
del outer
assert np.allclose(second, 6 * x)
assert np.allclose(jacobian, np.diag(6 * x))
