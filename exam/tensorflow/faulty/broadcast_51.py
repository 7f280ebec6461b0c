# expect: GT101
# cause: sample weights of shape (64,) are multiplied with squared errors of shape (64, 1)
# wrong: tf.size(weighted) != 64
# cure: squared_error * weights -> squared_error * weights[:, None]
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
ages = rng.uniform(20, 70, size=(64, 1)).astype("float32")
bmi = (0.1 * ages + 18 + rng.normal(size=(64, 1))).astype("float32")
sample_weight = np.where(ages[:, 0] > 50, 3.0, 1.0).astype("float32")

slope = tf.Variable([[0.0]])
intercept = tf.Variable([0.0])


def weighted_mse(y_true, y_pred, weights):
    squared_error = tf.math.squared_difference(y_true, y_pred)
    return squared_error * weights  # <- here


for step in range(5):
    with tf.GradientTape() as tape:
        prediction = tf.linalg.matmul(ages / 70.0, slope) + intercept
        weighted = weighted_mse(bmi / 10.0, prediction, tf.constant(sample_weight))
        loss = tf.reduce_sum(weighted) / tf.reduce_sum(sample_weight)
    d_slope, d_intercept = tape.gradient(loss, [slope, intercept])
    slope.assign_sub(0.01 * d_slope)
    intercept.assign_sub(0.01 * d_intercept)
