"""Weights kept on the unit sphere: assigned after each step, outside of the tape."""

import tensorflow as tf

w = tf.Variable([3.0, 4.0, 0.0])
matrix = tf.constant([[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.5]])
for _ in range(25):
    with tf.GradientTape() as tape:
        quotient = tf.tensordot(w, tf.linalg.matvec(matrix, w), 1) / tf.tensordot(w, w, 1)
    w.assign_add(0.5 * tape.gradient(quotient, w))
    w.assign(w / tf.norm(w))
assert float(quotient) > 1.9
