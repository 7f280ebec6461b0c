# expect: GT111
# cause: the weights of the second layer are transposed: (3, 20) after a hidden layer of 20
# wrong: raises InvalidArgumentError
# cure: tf.random.normal((3, 20)) -> tf.random.normal((20, 3))
import numpy as np
import tensorflow as tf


class MLP(tf.Module):
    def __init__(self):
        self.w1 = tf.Variable(tf.random.normal((8, 20)))
        self.w2 = tf.Variable(tf.random.normal((3, 20)))  # <- here

    def __call__(self, x):
        hidden = tf.nn.relu(x @ self.w1)
        return hidden @ self.w2  # <- here


tf.random.set_seed(0)
x = np.random.default_rng(0).normal(size=(16, 8)).astype("float32")
mlp = MLP()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(mlp(x) ** 2)  # <- asked
for v, g in zip(mlp.trainable_variables, tape.gradient(loss, mlp.trainable_variables)):
    v.assign_sub(0.01 * g)
