"""The gradient of a target that is not a scalar is the gradient of its sum."""

import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    y0 = x**2
    y1 = 1 / x
print(tape.gradient(y0, x).numpy(), tape.gradient(y1, x).numpy())
print(tape.gradient({"y0": y0, "y1": y1}, x).numpy())

x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = x * [3.0, 4.0]
print(tape.gradient(y, x).numpy())

x = tf.linspace(-2.0, 2.0, 5)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.nn.sigmoid(x)
print(tape.gradient(y, x))

x = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    y = x * x
print(tape.gradient(y, x, output_gradients=tf.constant([1.0, 0.0, 10.0])))
