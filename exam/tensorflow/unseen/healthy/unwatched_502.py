"""The torque at angles that are watched first."""

import tensorflow as tf

lengths = tf.constant([1.0, 0.5])
masses = tf.constant([1.0, 2.0])


def pendulum(angles):
    heights = -tf.cumsum(lengths * tf.cos(angles), axis=1)
    return 9.81 * tf.reduce_sum(masses * heights, axis=1)


angles = tf.random.uniform((5, 2), seed=15)
with tf.GradientTape() as tape:
    tape.watch(angles)
    energy = pendulum(angles)
torque = tape.gradient(energy, angles)
assert torque is not None
