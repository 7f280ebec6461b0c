# expect: GT201 because GT203
# cause: the positions of the atoms are a plain tensor, which the tape does not watch
# wrong: raises TypeError
# cure: energy = potential(positions) -> tape.watch(positions)\n        energy = potential(positions)
import tensorflow as tf


def potential(r):
    delta = r[1:] - r[:-1]
    return tf.reduce_sum((tf.norm(delta, axis=1) - 1.0) ** 2)


def force(positions):
    with tf.GradientTape() as tape:
        energy = potential(positions)  # <- here
    return -tape.gradient(energy, positions)  # <- here


chain = tf.convert_to_tensor([[0.0, 0.0], [1.5, 0.0], [2.0, 0.5]])
for _ in range(5):
    chain = chain + 0.1 * force(chain)  # <- asked
