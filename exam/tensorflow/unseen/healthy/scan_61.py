"""A recurrence by tf.scan, with the gradient through time."""

import tensorflow as tf

decay = tf.Variable(0.9)
inputs = tf.random.stateless_normal([12, 3], seed=[0, 1])
with tf.GradientTape() as tape:
    states = tf.scan(lambda h, u: decay * h + u, inputs, initializer=tf.zeros([3]))
    energy = tf.reduce_mean(states**2)
g = tape.gradient(energy, decay)
assert g is not None
assert float(g) != 0.0
