"""tf.recompute_grad: the hidden layer is computed again on the way back."""

import tensorflow as tf

tf.random.set_seed(9)
w = tf.Variable(tf.random.normal([4, 4]))
x = tf.random.normal([3, 4])


@tf.recompute_grad
def block(h):
    return tf.tanh(h @ w)


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(block(block(x)) ** 2)
assert tape.gradient(loss, w) is not None
