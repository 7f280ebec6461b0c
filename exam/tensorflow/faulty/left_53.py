# expect: GT201 because GT210 or GT206
# cause: a new Variable is made of the weights' value, so the loss does not depend on the weights
# wrong: g is None
# cure: tf.Variable(weights * 2.0) -> weights * 2.0
import tensorflow as tf

weights = tf.Variable([0.3, -0.6, 0.9])
inputs = tf.constant([1.0, 2.0, 3.0])


def scaled_weights():
    return tf.Variable(weights * 2.0)  # <- here


with tf.GradientTape() as tape:
    activation = tf.tanh(tf.tensordot(inputs, scaled_weights(), axes=1))
    loss = (activation - 0.5) ** 2
g = tape.gradient(loss, weights)  # <- asked
print(g)
