# library: tensorflow
# question: Why is this gradient None?
# answer: weights = weights - ... binds the name to a new tensor: the tape has watched the Variable, not the
#   tensor. assign_sub changes the Variable in its place.
import tensorflow as tf

x = tf.constant([[1.0], [2.0], [3.0]])
y = tf.constant([[2.0], [4.0], [6.0]])
weights = tf.Variable([[0.5]])
for step in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ weights - y) ** 2)
    gradient = tape.gradient(loss, weights)
    print(step, gradient)
    weights = weights - 0.1 * gradient
