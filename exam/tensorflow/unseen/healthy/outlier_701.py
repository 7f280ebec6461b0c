# robust regression: residual of every point, weights computed from detached residuals
import numpy as np
import tensorflow as tf

tf.random.set_seed(17)
x = tf.random.normal((50, 3))
y = tf.squeeze(x @ tf.constant([[1.0], [-1.0], [0.5]]), 1)
coefficients = tf.Variable(tf.zeros(3))
for _ in range(5):
    with tf.GradientTape() as tape:
        residual = tf.linalg.matvec(x, coefficients) - y
        scale = np.median(np.abs(residual.numpy())) + 1e-6
        weights = 1.0 / (1.0 + (tf.stop_gradient(residual) / scale) ** 2)
        loss = tf.reduce_sum(weights * residual**2) / tf.reduce_sum(weights)
    coefficients.assign_sub(0.2 * tape.gradient(loss, coefficients))
assert np.all(np.isfinite(coefficients))
