# expect: GT403 or GT402 or GT401
# cause: each particle has distance 0 to itself; where hides the division, and the gradient passes the root of 0
# wrong: not np.all(np.isfinite(gradient))
# cure: r = tf.norm(offsets, axis=2, keepdims=True) -> r = tf.sqrt(tf.reduce_sum(offsets**2, axis=2, keepdims=True) + 1e-12)
import numpy as np
import tensorflow as tf

positions = tf.Variable(np.random.default_rng(22).normal(size=(6, 2)), dtype=tf.float32)


def repulsion(positions):
    offsets = positions[:, None, :] - positions[None, :, :]
    r = tf.norm(offsets, axis=2, keepdims=True)  # <- here
    return tf.where(r > 0.0, offsets / r**2, tf.zeros_like(offsets))  # <- here


with tf.GradientTape() as tape:
    forces = tf.reduce_sum(repulsion(positions), axis=1)
    loss = tf.reduce_sum(forces**2)
gradient = tape.gradient(loss, positions)  # <- asked
