"""A vector-Jacobian product with a seed like the output."""

import tensorflow as tf

tf.random.set_seed(29)
matrix = tf.random.normal((5, 3))
x = tf.Variable(tf.random.normal((5,)))


def model(x):
    return tf.tanh(tf.linalg.matvec(matrix, x, transpose_a=True))


with tf.GradientTape() as tape:
    y = model(x)
vjp = tape.gradient(y, x, output_gradients=tf.ones_like(y))
assert vjp.shape == (5,)
