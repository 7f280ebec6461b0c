"""Jacobians with respect to scalars, vectors and matrices."""

import tensorflow as tf

x = tf.linspace(-1.0, 1.0, 3)
delta = tf.Variable(0.0)
with tf.GradientTape() as tape:
    y = tf.nn.sigmoid(x + delta)
dy_dx = tape.jacobian(y, delta)
print(y.shape, dy_dx.shape)
print(dy_dx)

x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
kernel = tf.Variable([[1.0, 0.5, -1.0], [0.25, 2.0, 1.0]])
with tf.GradientTape(persistent=True) as tape:
    y = tf.nn.relu(x @ kernel)
j = tape.jacobian(y, kernel)
g = tape.gradient(y, kernel)
print("j.shape:", j.shape)
print("g.shape:", g.shape)
j_sum = tf.reduce_sum(j, axis=[0, 1])
delta = tf.reduce_max(abs(g - j_sum)).numpy()
assert delta < 1e-3
print("delta:", delta)
print(j[0, 1])
