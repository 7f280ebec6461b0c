# expect: GT101
# cause: the module returns a column (60, 1), the prices are a vector (60,)
# wrong: residuals.shape != y.shape and residuals.shape != (60, 1)
# cure: prediction - target -> tf.squeeze(prediction, axis=1) - target
import numpy as np
import tensorflow as tf


class PriceModel(tf.Module):
    def __init__(self, features):
        self.kernel = tf.Variable(tf.random.stateless_normal([features, 1], seed=[1, 2]), name="kernel")
        self.offset = tf.Variable(tf.zeros([1]), name="offset")

    def __call__(self, inputs):
        return tf.linalg.matmul(inputs, self.kernel) + self.offset


def difference(prediction, target):
    return prediction - target  # <- here


area = np.random.default_rng(0).uniform(30, 150, (60, 2)).astype("float32") / 100
y = (area @ np.array([3.0, 1.0], dtype="float32")).astype("float32")
model = PriceModel(2)
for _ in range(10):
    with tf.GradientTape() as tape:
        residuals = difference(model(area), y)
        loss = tf.reduce_mean(tf.abs(residuals))
    for variable, gradient in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        variable.assign_sub(0.1 * gradient)
