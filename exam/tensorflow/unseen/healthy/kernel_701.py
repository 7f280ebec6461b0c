# a Gaussian process: every point meets every point, noise on the diagonal, log-determinant by Cholesky
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
x = tf.constant(np.sort(rng.uniform(-2, 2, 15)))
y = tf.constant(np.sin(2 * x.numpy()) + 0.1 * rng.normal(size=15))
log_parameters = tf.Variable([0.0, 0.0, -2.0], dtype=tf.float64)
for _ in range(5):
    with tf.GradientTape() as tape:
        length, height, noise = tf.unstack(tf.exp(log_parameters))
        squared = (x[:, None] - x) ** 2
        K = height * tf.exp(-0.5 * squared / length**2) + (noise + 1e-6) * tf.eye(15, dtype=tf.float64)
        L = tf.linalg.cholesky(K)
        alpha = tf.linalg.cholesky_solve(L, y[:, None])
        loss = 0.5 * tf.reduce_sum(y * alpha[:, 0]) + tf.reduce_sum(tf.math.log(tf.linalg.diag_part(L)))
    log_parameters.assign_sub(0.02 * tape.gradient(loss, log_parameters))
assert np.all(np.isfinite(log_parameters))
