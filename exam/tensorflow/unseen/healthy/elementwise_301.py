"""Weights of examples get an axis for time before they meet the losses."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.layers.LSTM(5, return_sequences=True)
head = tf.keras.layers.Dense(1)
x, y = tf.random.normal((16, 10, 3)), tf.random.normal((16, 10))
weights = tf.random.uniform((16,))
with tf.GradientTape() as tape:
    losses = (head(net(x))[:, :, 0] - y) ** 2
    loss = tf.reduce_mean(losses * weights[:, None])
grads = tape.gradient(loss, net.trainable_variables)
assert all(g is not None for g in grads)
