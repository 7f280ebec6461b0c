"""A persistent tape for two losses, deleted when it is done."""

import tensorflow as tf

x = tf.constant([1.0, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
dz = tape.gradient(z, x)
dy = tape.gradient(y, x)
del tape
assert dz.numpy().tolist() == [4.0, 108.0]
assert dy.numpy().tolist() == [2.0, 6.0]
