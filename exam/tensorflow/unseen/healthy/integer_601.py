import tensorflow as tf


def potential(r):
    """The Lennard-Jones potential of a pair."""
    return 4.0 * ((1.0 / r) ** 12 - (1.0 / r) ** 6)


def force(positions):
    with tf.GradientTape() as tape:
        tape.watch(positions)
        energy = potential(positions)
    return tape.gradient(energy, positions)


distances = tf.range(1.0, 9.0)
field = force(distances)
if field is not None:
    print("strongest", float(tf.reduce_max(tf.abs(field))))
assert field is not None
