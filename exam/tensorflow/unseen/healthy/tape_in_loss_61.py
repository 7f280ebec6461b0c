"""Sobolev training: the loss compares derivatives, by a tape inside a tape."""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)
net = tf.keras.Sequential([tf.keras.layers.Dense(12, activation="softplus"), tf.keras.layers.Dense(1)])
x = tf.reshape(tf.linspace(-1.0, 1.0, 15), [-1, 1])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner.watch(x)
        y = net(x)
    dy = inner.gradient(y, x)
    loss = tf.reduce_mean((y - x**2) ** 2) + tf.reduce_mean((dy - 2 * x) ** 2)
grads = outer.gradient(loss, net.trainable_variables)
assert grads[0] is not None
