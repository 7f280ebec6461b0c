"""Gumbel-softmax with a straight-through sample."""

import tensorflow as tf

tf.random.set_seed(5)
logits = tf.Variable(tf.zeros([6, 4]))
noise = -tf.math.log(-tf.math.log(tf.random.uniform([6, 4], 0.05, 0.95)))
with tf.GradientTape() as tape:
    soft = tf.nn.softmax((logits + noise) / 0.5)
    hard = tf.one_hot(tf.argmax(soft, axis=-1), 4)
    sample = soft + tf.stop_gradient(hard - soft)
    loss = tf.reduce_mean(tf.reduce_sum(sample * tf.constant([1.0, 2.0, 3.0, 4.0]), axis=-1))
g = tape.gradient(loss, logits)
assert bool(tf.reduce_any(g != 0))
