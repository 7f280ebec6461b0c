import numpy as np
import tensorflow as tf


def spring_energy(positions, bonds, stiffness=4.0, rest=1.0):
    ends = tf.gather(positions, bonds)
    length = tf.sqrt(tf.reduce_sum((ends[:, 0] - ends[:, 1]) ** 2, axis=1) + 1e-12)
    return 0.5 * stiffness * tf.reduce_sum((length - rest) ** 2)


def forces_on(positions, bonds):
    with tf.GradientTape() as tape:
        tape.watch(positions)
        energy = spring_energy(positions, bonds)
    slope = tape.gradient(energy, positions)
    return None if slope is None else tf.convert_to_tensor(slope)


bonds = tf.constant([[0, 1], [1, 2], [2, 3], [3, 0]])
positions = tf.constant(np.random.default_rng(1).normal(size=(4, 2)), tf.float32)
velocity = tf.zeros_like(positions)
for step in range(5):
    forces = forces_on(positions, bonds)
    if forces is None:
        break
    velocity = 0.9 * velocity - 0.05 * forces
    positions = positions + 0.05 * velocity
assert forces is not None
