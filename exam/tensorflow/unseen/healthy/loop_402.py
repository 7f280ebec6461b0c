"""A loop whose tensor grows, which its shape invariant allows."""

import tensorflow as tf

w = tf.Variable(0.5)


@tf.function
def grow(x):
    def body(i, rows):
        return i + 1, tf.concat([rows, w * rows[-1:]], axis=0)

    return tf.while_loop(
        lambda i, rows: i < 4, body, loop_vars=(0, x), shape_invariants=(tf.TensorShape(()), tf.TensorShape((None, 3)))
    )[1]


with tf.GradientTape() as tape:
    grown = grow(tf.ones((2, 3)))
    loss = tf.reduce_sum(grown)
grad = tape.gradient(loss, w)
assert grown.shape == (6, 3)
