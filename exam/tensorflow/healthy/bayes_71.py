"""A Bayesian linear layer: one noise for each weight, and a KL term."""

import tensorflow as tf

mu, rho = tf.Variable(tf.zeros([4, 1])), tf.Variable(tf.fill([4, 1], -2.0))
x = tf.random.stateless_normal([20, 4], seed=[2, 0])
y = x[:, :1]
with tf.GradientTape() as tape:
    sigma = tf.nn.softplus(rho)
    w = mu + sigma * tf.random.stateless_normal([4, 1], seed=[3, 0])
    kl = tf.reduce_sum(-tf.math.log(sigma) + 0.5 * (sigma**2 + mu**2) - 0.5)
    loss = tf.reduce_mean((x @ w - y) ** 2) + kl / 20
assert all(g is not None for g in tape.gradient(loss, [mu, rho]))
