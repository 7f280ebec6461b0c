# expect: GT401 or GT402 or GT403
# cause: the sigmoid is exactly 1 for a large score, and log(1 - 1) times 0 is NaN
# wrong: not np.isfinite(loss.numpy())
# cure: p = tf.sigmoid(scores) -> p = tf.clip_by_value(tf.sigmoid(scores), 1e-6, 1 - 1e-6)
import numpy as np
import tensorflow as tf

features = tf.constant([[0.2], [1.5], [60.0], [-1.0]])
truth = tf.constant([[0.0], [1.0], [1.0], [0.0]])
weight = tf.Variable([[1.0]])


def entropy(scores):
    p = tf.sigmoid(scores)
    return -tf.reduce_mean(truth * tf.math.log(p) + (1 - truth) * tf.math.log(1 - p))  # <- here


with tf.GradientTape() as tape:
    loss = entropy(features @ weight)
g = tape.gradient(loss, weight)  # <- asked
