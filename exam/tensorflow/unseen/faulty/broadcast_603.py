# expect: GT101
# cause: the prices are (120,) and the predictions (120, 1), so that their difference is (120, 120)
# wrong: abs(float(model.weight[0, 0]) - 2.0) > 0.3
# cure: tf.constant(table[:, -1], tf.float32) -> tf.constant(table[:, -1:], tf.float32)
import numpy as np
import tensorflow as tf


class LinearRegression(tf.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = tf.Variable(tf.zeros([features, 1]), name="weight")
        self.bias = tf.Variable(tf.zeros([1]), name="bias")

    def __call__(self, x):
        return x @ self.weight + self.bias


def mse(prediction, target):
    return tf.reduce_mean(tf.math.squared_difference(prediction, target))  # <- here


def read_table():
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(120, 3))
    return np.column_stack([inputs, inputs @ [2.0, -1.0, 0.5] + 3.0])


table = read_table()
x, price = tf.constant(table[:, :-1], tf.float32), tf.constant(table[:, -1], tf.float32)  # <- here
model = LinearRegression(3)
for epoch in range(100):
    with tf.GradientTape() as tape:
        loss = mse(model(x), price)  # <- here
    for variable, slope in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        variable.assign_sub(0.1 * slope)
