"""Per-example gradients by a Jacobian of the losses, and their norms."""

import tensorflow as tf

w = tf.Variable([[0.5], [-0.5]])
x = tf.constant([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
y = tf.constant([[1.0], [0.0], [2.0]])
with tf.GradientTape() as tape:
    losses = tf.reduce_sum((x @ w - y) ** 2, axis=1)
rows = tape.jacobian(losses, w)
norms = tf.norm(tf.reshape(rows, [3, -1]), axis=1)
assert rows.shape == (3, 2, 1)
assert norms.shape == (3,)
