"""A patch is pasted into a canvas by padding, which has a gradient."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
painter = tf.keras.layers.Dense(4)
codes, picture = tf.random.normal((6, 5)), tf.random.normal((6, 10))
with tf.GradientTape() as tape:
    patch = painter(codes)
    canvas = tf.pad(patch, [[0, 0], [3, 3]])
    loss = tf.reduce_mean((canvas - picture) ** 2)
grads = tape.gradient(loss, painter.trainable_variables)
assert all(g is not None for g in grads)
