# expect: GT201 because GT203
# cause: the points are a constant tensor that the tape does not watch
# wrong: forces is None
# cure: with tf.GradientTape() as tape: -> with tf.GradientTape() as tape:\n        tape.watch(points)
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
potential = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="tanh"), tf.keras.layers.Dense(1)])
atoms = tf.random.normal((6, 3))


def force(points):
    with tf.GradientTape() as tape:
        energy = tf.reduce_sum(potential(points))  # <- here
    return tape.gradient(energy, points)  # <- here


forces = force(atoms)
print(forces)
