import numpy as np
import tensorflow as tf


class Line:
    def __init__(self, rate):
        self.slope = tf.Variable(0.0)
        self.offset = tf.Variable(0.0)
        self.rate = rate

    def __call__(self, x):
        return self.slope * x + self.offset

    def step(self, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((self(x) - y) ** 2)
        d_slope, d_offset = tape.gradient(loss, [self.slope, self.offset])
        self.slope.assign_sub(self.rate * d_slope)
        self.offset.assign_sub(self.rate * d_offset)
        return loss


x = tf.linspace(-2.0, 2.0, 30)
line = Line(0.1)
for _ in range(5):
    loss = line.step(x, 1.5 * x - 0.5)
assert np.isfinite(float(loss))
