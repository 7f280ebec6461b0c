"""Forces at points that are watched."""

import tensorflow as tf

tf.keras.utils.set_random_seed(5)
potential = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
atoms = tf.random.normal((6, 3))


def force(points):
    with tf.GradientTape() as tape:
        tape.watch(points)
        energy = tf.reduce_sum(potential(points))
    return tape.gradient(energy, points)


forces = force(atoms)
print(forces)
assert forces is not None
