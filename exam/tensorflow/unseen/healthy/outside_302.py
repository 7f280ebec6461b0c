"""Space and time are joined inside of the tape, so that the derivative by each of them is there."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
x, t = tf.random.uniform((30, 1)), tf.random.uniform((30, 1))
with tf.GradientTape() as tape:
    tape.watch(t)
    points = tf.concat([x, t], axis=1)
    u = net(points)
u_t = tape.gradient(u, t)
assert u_t is not None
