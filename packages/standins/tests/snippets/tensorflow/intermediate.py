"""Gradients with respect to intermediate results, and several of them from one persistent tape."""

import tensorflow as tf

x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, y).numpy())

x = tf.constant([1, 3.0])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    y = x * x
    z = y * y
print(tape.gradient(z, x).numpy())
print(tape.gradient(y, x).numpy())
del tape

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * x
tape.gradient(y, x)
try:
    tape.gradient(y, x)
except RuntimeError as error:
    print(type(error).__mro__[-4:-2] == (RuntimeError, Exception) or isinstance(error, RuntimeError))
