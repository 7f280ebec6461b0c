"""A second derivative: both tapes are told to watch the points."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
x = tf.linspace(0.0, 1.0, 20)[:, None]
with tf.GradientTape() as outer:
    outer.watch(x)
    with tf.GradientTape() as inner:
        inner.watch(x)
        u = net(x)
    first = inner.gradient(u, x)
second = outer.gradient(first, x)
assert second is not None
