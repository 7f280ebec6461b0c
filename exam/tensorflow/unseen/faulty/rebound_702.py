# expect: GT201 because GT205
# cause: the update makes a tensor of the Variable, which the tape of the next step does not watch
# wrong: raises Exception
# cure: self.slope = self.slope - self.rate * d_slope -> self.slope.assign_sub(self.rate * d_slope)
# cure: self.offset = self.offset - self.rate * d_offset -> self.offset.assign_sub(self.rate * d_offset)
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
        d_slope, d_offset = tape.gradient(loss, [self.slope, self.offset])  # <- asked
        self.slope = self.slope - self.rate * d_slope  # <- here
        self.offset = self.offset - self.rate * d_offset  # <- here
        return loss


x = tf.linspace(-2.0, 2.0, 30)
line = Line(0.1)
for _ in range(5):
    loss = line.step(x, 1.5 * x - 0.5)
