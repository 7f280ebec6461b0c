"""A tf.Module with its own variables and a plain SGD loop."""

import numpy as np
import tensorflow as tf


class Linear(tf.Module):
    def __init__(self, n):
        super().__init__()
        self.w = tf.Variable(tf.zeros((n, 1)), name="w")
        self.b = tf.Variable(0.0, name="b")

    def __call__(self, x):
        return x @ self.w + self.b


rng = np.random.default_rng(0)
x = rng.normal(size=(50, 2)).astype("float32")
y = x @ np.array([[3.0], [1.0]], dtype="float32") - 1.0
model = Linear(2)
for _ in range(60):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.2 * g)
assert abs(float(model.b) + 1.0) < 0.05
