# library: tensorflow
# question: What does tape.gradient return when the target is a tensor?
# answer: The gradient of the sum of its elements: the seed is ones, created implicitly. For the derivative of
#   each element, tape.jacobian. The two programs print the same numbers, and only one of them is a slope of y
#   at x.
import tensorflow as tf

x = tf.Variable([1.0, 2.0, 3.0])
mix = tf.constant([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
with tf.GradientTape(persistent=True) as tape:
    y = tf.linalg.matvec(mix, x**2)
print(tape.gradient(y, x).numpy())
print(tape.jacobian(y, x).numpy())
