"""The Jacobian of each example, two ways, and a Hessian by a Jacobian of a gradient."""

import tensorflow as tf

x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
w = tf.Variable([[1.0, 2.0], [0.5, -0.5], [1.0, 0.0]])
with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
    tape.watch(x)
    y = tf.sin(x @ w)
j = tape.jacobian(y, x)
print(j.shape)
print(tf.reduce_sum(j, axis=2))
jb = tape.batch_jacobian(y, x)
print(jb.shape)
print(tf.reduce_max(abs(jb - tf.reduce_sum(j, axis=2))).numpy() < 1e-6)

v = tf.Variable([1.0, 2.0, 3.0])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        loss = tf.reduce_prod(v)
    g = t1.gradient(loss, v)
h = t2.jacobian(g, v)
print(g)
print(h)
