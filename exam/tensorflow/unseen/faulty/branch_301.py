# expect: GT403 or GT402 or GT401
# cause: NaN is replaced after the division, and the gradient still passes the division by zero
# wrong: not np.isfinite(grad.numpy()).all()
# cure: ratio = hits / counts -> ratio = hits / tf.maximum(counts, 1.0)
import numpy as np
import tensorflow as tf

counts = tf.constant([4.0, 0.0, 2.0, 5.0])
features = tf.constant([[1.0, 2.0], [0.0, 0.0], [0.5, 1.0], [2.0, 0.3]])
w = tf.Variable([[0.3], [0.2]])
with tf.GradientTape() as tape:
    hits = (features @ w)[:, 0]
    ratio = hits / counts  # <- here
    ratio = tf.where(tf.math.is_nan(ratio), 0.0, ratio)  # <- here
    loss = tf.reduce_mean((ratio - 0.5) ** 2)
grad = tape.gradient(loss, w)  # <- asked
