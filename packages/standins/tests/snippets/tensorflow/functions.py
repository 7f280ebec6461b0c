"""tf.function: Python runs while tracing, once for each kind of arguments."""

import tensorflow as tf


@tf.function
def double(a):
    print("Tracing with", a)
    return a + a


print(double(tf.constant(1)))
print(double(tf.constant(2)))
print(double(tf.constant(1.1)))
print(double(2))
print(double(2))
print(double(3))
print(double.experimental_get_tracing_count())


@tf.function(input_signature=(tf.TensorSpec(shape=[None], dtype=tf.int32),))
def next_collatz(x):
    print("Tracing with", x.dtype)
    return tf.where(x % 2 == 0, x // 2, 3 * x + 1)


print(next_collatz(tf.constant([1, 2])))
print(next_collatz(tf.constant([3, 4, 5])).numpy())
try:
    next_collatz(tf.constant([[1, 2], [3, 4]]))
except TypeError as error:
    print(type(error).__name__)

v = tf.Variable(1.0)


@tf.function
def loop(n):
    print("Tracing loop")
    while tf.reduce_sum(v) < n:
        v.assign_add(v * 2.0)
    return v


print(loop(tf.constant(10.0)))
print(loop(tf.constant(100.0)))


@tf.function
def gradient(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * x
    return tape.gradient(y, x)


print(gradient(tf.constant(0.5)))
x = tf.Variable(3.0)
with tf.GradientTape() as tape:
    y = double(x * x)
print(tape.gradient(y, x))
print(double.get_concrete_function(tf.TensorSpec([], tf.float32))(tf.constant(4.0)))
