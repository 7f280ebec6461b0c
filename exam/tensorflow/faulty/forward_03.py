# expect: GT401
# cause: exp overflows float32 in a softplus written by hand
# wrong: not np.all(np.isfinite(g))
# cure: tf.math.log(1.0 + tf.exp(z)) -> tf.math.softplus(z)
import numpy as np
import tensorflow as tf

dose = tf.constant([0.1, 1.0, 10.0, 100.0])
response = tf.constant([0.0, 0.5, 4.0, 90.0])
theta = tf.Variable([1.0, -0.5])


def softplus(z):
    return tf.math.log(1.0 + tf.exp(z))  # <- here


with tf.GradientTape() as tape:
    predicted = softplus(theta[0] * dose + theta[1])
    loss = tf.reduce_mean((predicted - response) ** 2)
g = tape.gradient(loss, theta)  # <- asked
print(loss.numpy(), g.numpy())
