# expect: GT301
# cause: the vector for the vector-Jacobian product has 3 elements, the outputs are 4
# wrong: raises InvalidArgumentError
# cure: tf.constant([1.0, 0.0, 0.0]) -> tf.constant([1.0, 0.0, 0.0, 0.0])
import tensorflow as tf

matrix = tf.constant([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [3.0, 0.0, 1.0], [1.0, 1.0, 1.0]])
state = tf.Variable([0.5, 0.1, 0.2])
direction = tf.constant([1.0, 0.0, 0.0])  # <- here
with tf.GradientTape() as tape:
    flow = tf.tanh(tf.linalg.matvec(matrix, state))
vjp = tape.gradient(flow, state, output_gradients=direction)  # <- here
