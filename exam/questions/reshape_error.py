# library: tensorflow
# question: Why does tape.gradient raise a reshape error?
# answer: The seed given as output_gradients weighs each element of the target, so it needs the target's
#   shape. TensorFlow does not check it: the rule of some operation on the way back fails to reshape it, and
#   that rule is blamed.
import tensorflow as tf

features = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
weights = tf.Variable([[0.1], [0.2], [0.3]])

with tf.GradientTape() as tape:
    scores = tf.reduce_sum(features @ weights, axis=1)
importance = tf.constant([1.0, 0.5, 0.25])
gradient = tape.gradient(scores, weights, output_gradients=importance)
print(gradient)
