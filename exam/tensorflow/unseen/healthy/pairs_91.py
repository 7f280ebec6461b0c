"""A kernel matrix of all pairs, with the axes written out."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
x = tf.random.normal((15,))
y = tf.sin(x)
log_scale = tf.Variable(0.0)
for _ in range(3):
    with tf.GradientTape() as tape:
        K = tf.exp(-0.5 * (x[:, None] - x[None, :]) ** 2 / tf.exp(log_scale)) + 0.1 * tf.eye(15)
        alpha = tf.linalg.solve(K, y[:, None])
        nll = 0.5 * tf.reduce_sum(y[:, None] * alpha) + 0.5 * tf.linalg.logdet(K)
    log_scale.assign_sub(0.01 * tape.gradient(nll, log_scale))
assert float(log_scale) != 0
