"""A mixture density: (n, 1) observations against (n, k) means and scales."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
x = tf.random.uniform([30, 1])
y = tf.sin(6.0 * x)
net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(9)])
with tf.GradientTape() as tape:
    logits, mean, log_scale = tf.split(net(x), 3, axis=-1)
    z = (y - mean) * tf.exp(-log_scale)
    log_density = -0.5 * z**2 - log_scale - 0.5 * np.log(2 * np.pi)
    loss = -tf.reduce_mean(tf.reduce_logsumexp(tf.nn.log_softmax(logits) + log_density, axis=-1))
assert all(g is not None for g in tape.gradient(loss, net.trainable_variables))
