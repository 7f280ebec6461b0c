"""What a tape watches: variables by themselves, constants only when told to."""

import tensorflow as tf

x0 = tf.Variable(3.0, name="x0")
x1 = tf.Variable(3.0, name="x1", trainable=False)
x2 = tf.Variable(2.0, name="x2") + 1.0
x3 = tf.constant(3.0, name="x3")
with tf.GradientTape() as tape:
    y = (x0**2) + (x1**2) + (x2**2)
for g in tape.gradient(y, [x0, x1, x2, x3]):
    print(g)
print([v.name for v in tape.watched_variables()])

x = tf.constant(3.0)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x**2
print(tape.gradient(y, x).numpy())

a, b = tf.Variable(0.0), tf.Variable(10.0)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(b)
    total = tf.reduce_sum(tf.math.sin(a) + tf.nn.softplus(b))
grads = tape.gradient(total, {"a": a, "b": b})
print("da:", grads["a"])
print("db:", grads["b"].numpy())
