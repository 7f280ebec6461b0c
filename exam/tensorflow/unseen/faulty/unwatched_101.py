# expect: GT201 because GT203
# cause: the weight of the layer is a plain tensor, which no tape watches and no optimiser has
# wrong: grad is None
# cure: self.scale = tf.ones((4,)) -> self.scale = tf.Variable(tf.ones((4,)))
import tensorflow as tf


class Scale(tf.Module):
    def __init__(self):
        super().__init__()
        self.scale = tf.ones((4,))  # <- here

    def __call__(self, x):
        return x * self.scale  # <- here


layer = Scale()
x = tf.random.normal((10, 4), seed=1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((layer(x) - 2 * x) ** 2)
grad = tape.gradient(loss, layer.scale)  # <- asked
