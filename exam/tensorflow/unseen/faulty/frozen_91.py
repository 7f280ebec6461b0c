# expect: GT201 because GT212 or GT203
# cause: the variable was made with trainable=False, so that no tape watches it
# wrong: g is None
# cure: tf.Variable(0.5, trainable=False) -> tf.Variable(0.5)
import tensorflow as tf

scale = tf.Variable(0.5, trainable=False)  # <- here
x = tf.constant([1.0, 2.0, 4.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum((scale * x - 3.0) ** 2)
g = tape.gradient(loss, scale)  # <- asked
