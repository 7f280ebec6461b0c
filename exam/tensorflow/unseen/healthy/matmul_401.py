"""A tensor of three axes is contracted with a matrix over the axis that both have."""

import tensorflow as tf

tf.random.set_seed(0)
states = tf.random.normal((4, 7, 12))
w = tf.Variable(tf.random.normal((5, 12)))
with tf.GradientTape() as tape:
    projected = tf.tensordot(states, w, axes=[[2], [1]])
    loss = tf.reduce_mean(projected**2)
grad = tape.gradient(loss, w)
assert projected.shape == (4, 7, 5)
