"""The derivative by one coordinate is a column of the gradient by the points."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
points = tf.random.uniform((30, 2))
with tf.GradientTape() as tape:
    tape.watch(points)
    u = net(points)
u_x = tape.gradient(u, points)[:, 0:1]
assert u_x.shape == (30, 1)
