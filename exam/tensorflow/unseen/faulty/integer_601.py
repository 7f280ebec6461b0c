# expect: GT201 or GT310 because GT207
# cause: tf.range of integers gives integers, which have no gradient
# wrong: field is None
# cure: tf.range(1, 9) -> tf.range(1.0, 9.0)
# cure: potential(tf.cast(positions, tf.float32)) -> potential(positions)
import tensorflow as tf


def potential(r):
    """The Lennard-Jones potential of a pair."""
    return 4.0 * ((1.0 / r) ** 12 - (1.0 / r) ** 6)


def force(positions):
    with tf.GradientTape() as tape:
        tape.watch(positions)
        energy = potential(tf.cast(positions, tf.float32))
    return tape.gradient(energy, positions)  # <- asked


distances = tf.range(1, 9)  # <- here
field = force(distances)
if field is not None:
    print("strongest", float(tf.reduce_max(tf.abs(field))))
