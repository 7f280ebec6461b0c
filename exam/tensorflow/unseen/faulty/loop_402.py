# expect: GT110 or GT113 or GT314
# says: shape_invariants
# cause: the tensor grows by a row in each round, and a loop in a graph keeps the shapes of its variables
# wrong: raises ValueError
# cure: loop_vars=(0, x)) -> loop_vars=(0, x), shape_invariants=(tf.TensorShape(()), tf.TensorShape((None, 3))))
import tensorflow as tf

w = tf.Variable(0.5)


@tf.function
def grow(x):
    def body(i, rows):
        return i + 1, tf.concat([rows, w * rows[-1:]], axis=0)  # <- here

    return tf.while_loop(lambda i, rows: i < 4, body, loop_vars=(0, x))[1]  # <- here


with tf.GradientTape() as tape:
    grown = grow(tf.ones((2, 3)))  # <- asked
    loss = tf.reduce_sum(grown)
grad = tape.gradient(loss, w)
