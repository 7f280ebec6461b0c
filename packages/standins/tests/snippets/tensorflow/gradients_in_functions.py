"""tf.gradients and tf.hessians work inside of a tf.function, and nowhere else."""

import tensorflow as tf


@tf.function
def slope(x):
    return tf.gradients(x**3, x)


@tf.function
def both(x):
    y = x**3
    first = tf.gradients(y, x)[0]
    return first, tf.gradients(first, [x])


@tf.function
def of_constant():
    x = tf.constant(3.0)
    w = tf.sin(x)
    return tf.gradients([w * w, x], [x, w], unconnected_gradients=tf.UnconnectedGradients.ZERO)


v = tf.Variable([1.0, 2.0])


def helper(y):
    return tf.gradients(y, v, grad_ys=[tf.constant([1.0, 10.0])])


@tf.function
def weighed():
    return helper(v * v)


@tf.function
def curvature(x):
    return tf.hessians(tf.reduce_sum(x**3), x)


for _ in range(2):
    print(slope(tf.constant(2.0)))
print(both(tf.constant(2.0)))
print(of_constant())
print(weighed())
print(curvature(tf.constant([1.0, 2.0])))
try:
    tf.gradients(v * v, v)
except RuntimeError as error:
    print(type(error).__name__)
