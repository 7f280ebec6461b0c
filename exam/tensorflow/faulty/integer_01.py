# expect: GT201 or GT310 because GT207
# cause: the Variable was made from Python integers, so it is int32
# wrong: grad is None
# cure: tf.Variable([3, 4]) -> tf.Variable([3.0, 4.0])
import tensorflow as tf

x = tf.Variable([3, 4])  # <- here
with tf.GradientTape() as tape:
    y = tf.reduce_sum(x * x)
grad = tape.gradient(y, x)  # <- asked
print("dy/dx =", grad)
