"""A tape records what was executed, so branches on values choose the gradient."""

import tensorflow as tf

x = tf.constant(1.0)
v0 = tf.Variable(2.0)
v1 = tf.Variable(2.0)
with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    if x > 0.0:
        result = v0
    else:
        result = v1**2
dv0, dv1 = tape.gradient(result, [v0, v1])
print(dv0)
print(dv1)
print(tape.gradient(result, x))

n = tf.Variable(1.5)
with tf.GradientTape() as tape:
    total = tf.constant(1.0)
    for i in tf.range(3):
        total = total * n + tf.cast(i, tf.float32)
print(total, tape.gradient(total, n))
