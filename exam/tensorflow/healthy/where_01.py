"""The where trick done right: the argument is made safe before the logarithm."""

import numpy as np
import tensorflow as tf

p = tf.Variable([0.0, 0.25, 0.75])
with tf.GradientTape() as tape:
    safe = tf.where(p > 0, p, tf.ones_like(p))
    entropy = -tf.reduce_sum(tf.where(p > 0, p * tf.math.log(safe), tf.zeros_like(p)))
g = tape.gradient(entropy, p)
assert np.isfinite(g.numpy()).all()
