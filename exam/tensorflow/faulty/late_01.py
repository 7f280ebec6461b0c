# expect: GT201 because GT204 or GT203
# cause: the positions were used before watch was called on them
# wrong: force is None
# cure: r = distances(positions)\n    tape.watch(positions)  # <- here -> tape.watch(positions)\n    r = distances(positions)
import tensorflow as tf

positions = tf.constant([[0.0, 0.0], [1.1, 0.0], [0.4, 0.9]])


def distances(p):
    pairs = tf.stack([p[0] - p[1], p[0] - p[2], p[1] - p[2]])
    return tf.sqrt(tf.reduce_sum(pairs**2, axis=1))


with tf.GradientTape() as tape:
    r = distances(positions)
    tape.watch(positions)  # <- here
    energy = tf.reduce_sum(4.0 * (r**-12 - r**-6))
force = tape.gradient(energy, positions)  # <- asked
print(force)
