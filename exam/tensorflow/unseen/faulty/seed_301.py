# expect: GT301 or GT314 or GT110
# cause: batch_jacobian wants an output for each example, and the outputs were summed over the examples
# wrong: raises ValueError
# cure: tf.reduce_sum(tf.tanh(x @ w), axis=0) -> tf.tanh(x @ w)
import tensorflow as tf

tf.random.set_seed(0)
w = tf.random.normal((3, 2))
x = tf.random.normal((7, 3))
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.tanh(x @ w), axis=0)  # <- here
jacobian = tape.batch_jacobian(y, x)  # <- here
