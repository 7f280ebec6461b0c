"""A Gaussian likelihood of many observations with one mean and one scale."""

import numpy as np
import tensorflow as tf

observed = tf.constant(np.random.default_rng(0).normal(2.0, 0.5, size=200), tf.float32)
mu, log_sigma = tf.Variable(0.0), tf.Variable([0.0])
for _ in range(150):
    with tf.GradientTape() as tape:
        z = (observed - mu) * tf.exp(-log_sigma)
        nll = tf.reduce_mean(0.5 * z**2 + log_sigma)
    dm, ds = tape.gradient(nll, [mu, log_sigma])
    mu.assign_sub(0.1 * dm)
    log_sigma.assign_sub(0.1 * ds)
assert abs(float(mu) - 2.0) < 0.1
