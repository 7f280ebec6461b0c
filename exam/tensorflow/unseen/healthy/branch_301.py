"""The ratio is computed where it exists."""

import numpy as np
import tensorflow as tf

counts = tf.constant([4.0, 0.0, 2.0, 5.0])
features = tf.constant([[1.0, 2.0], [0.0, 0.0], [0.5, 1.0], [2.0, 0.3]])
w = tf.Variable([[0.3], [0.2]])
with tf.GradientTape() as tape:
    hits = (features @ w)[:, 0]
    ratio = hits / tf.maximum(counts, 1.0)
    ratio = tf.where(tf.math.is_nan(ratio), 0.0, ratio)
    loss = tf.reduce_mean((ratio - 0.5) ** 2)
grad = tape.gradient(loss, w)
assert np.isfinite(grad.numpy()).all()
