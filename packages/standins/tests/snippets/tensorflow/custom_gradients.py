"""Gradients of one's own: clipped on the way back, numerically stable, and with variables inside."""

import tensorflow as tf


@tf.custom_gradient
def clip_gradients(y):
    def backward(dy):
        return tf.clip_by_norm(dy, 0.5)

    return y, backward


v = tf.Variable(2.0)
with tf.GradientTape() as t:
    output = clip_gradients(v * v)
print(t.gradient(output, v))


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(upstream):
        return upstream * (1 - 1 / (1 + e))

    return tf.math.log(1 + e), grad


for value in (0.0, 100.0):
    x = tf.constant(value)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = log1pexp(x)
    print(tape.gradient(y, x).numpy())

weight = tf.Variable(3.0)


@tf.custom_gradient
def scaled(x):
    def grad(upstream, variables=None):
        print(len(variables), "variable")
        return upstream * 10.0, [upstream * 100.0]

    return x * weight, grad


x = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = scaled(x)
print(y.numpy(), [g.numpy() for g in tape.gradient(y, [x, weight])])


@tf.custom_gradient
def product(a, b):
    return a * b, lambda upstream: (upstream * b, upstream * a)


a, b = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(product(a, b) ** 2)
    first = inner.gradient(y, a)
print(first, outer.gradient(first, a))
