"""log-sum-exp by the library, divide_no_nan and clipping: large and zero numbers that stay finite."""

import numpy as np
import tensorflow as tf

scores = tf.Variable([[1000.0, 999.0, -1000.0], [0.0, 0.0, 0.0]])
with tf.GradientTape() as tape:
    log_z = tf.reduce_logsumexp(scores, axis=1)
    ratio = tf.math.divide_no_nan(scores[:, 0], tf.abs(scores[:, 1]))
    loss = tf.reduce_sum(log_z) + 1e-3 * tf.reduce_sum(ratio)
g = tape.gradient(loss, scores).numpy()
assert np.isfinite(g).all()
