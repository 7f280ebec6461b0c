"""The Jacobian of a flow, and its log-determinant in the loss."""

import tensorflow as tf

a = tf.Variable([[1.0, 0.2], [0.1, 1.5]])
x = tf.constant([[0.3, -0.4], [1.0, 0.5]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(x)
        z = tf.tanh(x @ a)
    jacobian = inner.batch_jacobian(z, x)
    loss = tf.reduce_mean(0.5 * tf.reduce_sum(z**2, axis=1) - tf.linalg.slogdet(jacobian)[1])
assert outer.gradient(loss, a).shape == (2, 2)
