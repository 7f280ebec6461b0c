# all pairs on purpose: an RBF kernel of a Gaussian process and its marginal likelihood
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
x = tf.constant(np.sort(rng.uniform(-3, 3, 25)))
y = tf.sin(x) + 0.1 * tf.constant(rng.normal(size=25))
log_length, log_noise = tf.Variable(0.0, dtype=tf.float64), tf.Variable(-1.0, dtype=tf.float64)


def kernel(a, b):
    gap = a[:, None] - b[None, :]
    return tf.exp(-0.5 * (gap / tf.exp(log_length)) ** 2)


def negative_log_likelihood():
    cov = kernel(x, x) + tf.exp(2.0 * log_noise) * tf.eye(25, dtype=tf.float64)
    chol = tf.linalg.cholesky(cov)
    alpha = tf.linalg.cholesky_solve(chol, y[:, None])
    return 0.5 * tf.reduce_sum(y[:, None] * alpha) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))


values = []
for _ in range(10):
    with tf.GradientTape() as tape:
        nll = negative_log_likelihood()
    for v, g in zip((log_length, log_noise), tape.gradient(nll, (log_length, log_noise))):
        v.assign_sub(0.01 * g)
    values.append(float(nll))
assert values[-1] < values[0]
