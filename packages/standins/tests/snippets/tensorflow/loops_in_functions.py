"""Loops and branches inside functions, and arrays of tensors."""

import tensorflow as tf


@tf.function
def fib(n):
    a, b = tf.constant(0), tf.constant(1)
    for _ in tf.range(n):
        a, b = b, a + b
    return a


print(fib(tf.constant(10)))


@tf.function
def collatz(x):
    n = tf.constant(0)
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        n += 1
    return n


print(collatz(tf.constant(7)))
ta = tf.TensorArray(tf.float32, size=3)
x = tf.Variable(2.0)
with tf.GradientTape() as t:
    for i in range(3):
        ta = ta.write(i, x**i)
    s = tf.reduce_sum(ta.stack())
print(ta.stack(), t.gradient(s, x), ta.size(), ta.read(1))


@tf.function
def loop(x, n):
    y = x
    for _ in tf.range(n):
        y = y * x
    return y


with tf.GradientTape() as t:
    y = loop(x, tf.constant(3))
print(y, t.gradient(y, x))


def fn(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x**3
    return t.gradient(y, x)


print(tf.map_fn(fn, tf.constant([1.0, 2.0])), tf.vectorized_map(fn, tf.constant([1.0, 2.0])))
i, j = tf.while_loop(lambda i, j: i < 5, lambda i, j: (i + 1, j * 2), (tf.constant(0), tf.constant(1)))
print(i, j)
print(tf.cond(x > 1.0, lambda: x * 2, lambda: x * 3))
with tf.GradientTape() as t:
    y = tf.cond(x > 1.0, lambda: x * 2, lambda: x * 3)
print(t.gradient(y, x))


@tf.function
def multi(a, b=2, *, c=3):
    return {"sum": a + b, "list": [a, c]}


print(multi(tf.constant(1)))
print(multi(tf.constant(1), b=5, c=tf.constant(1)))
