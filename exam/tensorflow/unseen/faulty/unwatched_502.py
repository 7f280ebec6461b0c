# expect: GT201 because GT204 or GT203
# cause: the angles are watched after the energy was computed from them
# wrong: torque is None
# cure: energy = pendulum(angles)\n    tape.watch(angles)  # <- here -> tape.watch(angles)\n    energy = pendulum(angles)
import tensorflow as tf

lengths = tf.constant([1.0, 0.5])
masses = tf.constant([1.0, 2.0])


def pendulum(angles):
    heights = -tf.cumsum(lengths * tf.cos(angles), axis=1)
    return 9.81 * tf.reduce_sum(masses * heights, axis=1)


angles = tf.random.uniform((5, 2), seed=15)
with tf.GradientTape() as tape:
    energy = pendulum(angles)
    tape.watch(angles)  # <- here
torque = tape.gradient(energy, angles)  # <- here
