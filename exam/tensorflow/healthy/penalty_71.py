"""An L1 penalty on a Variable that is partly zero, and a smooth one beside it."""

import tensorflow as tf

w = tf.Variable([[0.0], [0.5], [0.0]])
x = tf.random.stateless_normal([15, 3], seed=[4, 4])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((x @ w - x[:, :1]) ** 2) + 0.01 * tf.reduce_sum(tf.abs(w)) + 0.01 * tf.nn.l2_loss(w)
assert tape.gradient(loss, w).shape == (3, 1)
