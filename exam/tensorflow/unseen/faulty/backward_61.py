# expect: GT402
# cause: the standard deviation of equal activations is 0, where the root has an infinite slope
# wrong: not np.all(np.isfinite(g.numpy()))
# cure: spread = tf.math.reduce_std(activations) -> spread = tf.sqrt(tf.math.reduce_variance(activations) + 1e-6)
import numpy as np
import tensorflow as tf

gain = tf.Variable([1.0, 1.0, 1.0])
units = tf.ones([4, 3])

with tf.GradientTape() as tape:
    activations = units * gain
    spread = tf.math.reduce_std(activations)  # <- here
    objective = tf.reduce_mean(activations) - 0.1 * spread
g = tape.gradient(objective, gain)  # <- asked
