"""A tf.Module with a column of predictions and a column of targets."""

import tensorflow as tf


class Line(tf.Module):
    def __init__(self):
        self.slope = tf.Variable([[0.0]])
        self.start = tf.Variable(0.0)

    def __call__(self, t):
        return t @ self.slope + self.start


t = tf.reshape(tf.linspace(0.0, 1.0, 40), [-1, 1])
y = 2.0 * t - 1.0
line = Line()
first = last = None
for _ in range(30):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(line(t) - y))
    for v, g in zip(line.trainable_variables, tape.gradient(loss, line.trainable_variables)):
        v.assign_sub(0.3 * g)
    first = float(loss) if first is None else first
    last = float(loss)
assert last < first
