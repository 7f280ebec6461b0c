"""Jacobians of what is watched, and images whose axes are transposed, not reshaped."""

import tensorflow as tf

x = tf.constant([0.2, 0.4, 0.6])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = tf.stack([tf.reduce_sum(x**2), tf.reduce_prod(x)])
    z = tf.sin(x[None]) * 2.0
assert tape.jacobian(y, x).shape == (2, 3)
raw = tf.random.normal((6, 3, 8, 8), seed=1)
images = tf.transpose(raw, (0, 2, 3, 1))
flat = tf.reshape(images, (6, 64, 3))
w = tf.Variable([[0.1, 0.5], [0.2, -0.3], [0.7, 0.4]])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((flat @ w) ** 2)
assert tape.gradient(loss, w).shape == (3, 2)
