# expect: GT201 because GT210
# cause: np.interp works on a NumPy array, so the tape loses the heights
# wrong: grad is None
# cure: np.interp(grid, knots, heights.numpy()) -> weights @ heights[:, None]
import numpy as np
import tensorflow as tf

knots = np.array([0.0, 0.5, 1.0])
grid = np.array([0.1, 0.25, 0.5, 0.8])
weights = tf.constant(np.stack([np.interp(grid, knots, e) for e in np.eye(3)], axis=1), tf.float32)
observed = tf.constant([[0.2], [0.4], [1.0], [0.7]])
heights = tf.Variable([0.0, 1.0, 0.5])


def curve(heights):
    values = np.interp(grid, knots, heights.numpy())  # <- here
    return tf.reshape(tf.cast(values, tf.float32), (-1, 1))


with tf.GradientTape() as tape:
    error = tf.reduce_sum(tf.abs(curve(heights) - observed))
grad = tape.gradient(error, heights)  # <- asked
print(grad)
