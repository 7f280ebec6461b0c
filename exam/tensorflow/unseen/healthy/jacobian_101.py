"""A Jacobian by a watched tensor, and one of a batch."""

import tensorflow as tf

x = tf.constant([[0.2, 0.4, 0.6], [0.1, 0.3, 0.5]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.stack([tf.reduce_sum(x**2, axis=1), tf.reduce_prod(x, axis=1)], axis=1)
each = tape.batch_jacobian(y, x)
whole = tape.jacobian(y, x)
assert each.shape == (2, 2, 3)
assert whole.shape == (2, 2, 2, 3)
