"""Second derivatives with the inner gradient inside the outer tape, and a Hessian-vector product."""

import tensorflow as tf

x = tf.Variable([0.5, 1.0, 1.5])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(tf.sin(x) * x)
    first = inner.gradient(y, x)
    along = tf.reduce_sum(first * tf.constant([1.0, 0.0, -1.0]))
second = outer.gradient(along, x)
assert second.shape == (3,)
