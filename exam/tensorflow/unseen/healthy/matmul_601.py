import tensorflow as tf


class ElmanCell(tf.Module):
    def __init__(self, inputs, units):
        super().__init__()
        init = tf.random.Generator.from_seed(7)
        self.w_in = tf.Variable(init.normal((inputs, units)), name="w_in")
        self.w_rec = tf.Variable(init.normal((units, units)), name="w_rec")
        self.b = tf.Variable(tf.zeros(units), name="b")
        self.units = units

    def __call__(self, x, h):
        return tf.tanh(tf.matmul(x, self.w_in) + tf.matmul(h, self.w_rec) + self.b)

    def unroll(self, sequence):
        h = tf.zeros((sequence.shape[0], self.units))
        for t in range(sequence.shape[1]):
            h = self(sequence[:, t], h)
        return h


cell = ElmanCell(5, 7)
with tf.GradientTape() as tape:
    final = cell.unroll(tf.random.stateless_normal((3, 4, 5), seed=(0, 0)))
    loss = tf.reduce_sum(final**2)
assert final.shape == (3, 7)
