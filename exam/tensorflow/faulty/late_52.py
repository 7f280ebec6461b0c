# expect: GT201 because GT204 or GT203
# cause: tape.watch comes after the function was computed
# wrong: dy is None
# cure:     y = f(x)\n    tape.watch(x)  # <- here -> \n    tape.watch(x)\n    y = f(x)
import tensorflow as tf


def f(x):
    return tf.reduce_sum(tf.exp(-x) * x)


x = tf.constant([0.5, 1.0, 2.0])
with tf.GradientTape() as tape:
    y = f(x)
    tape.watch(x)  # <- here
dy = tape.gradient(y, x)  # <- asked
print(dy)
