# expect: GT201 because GT208
# cause: the regulariser's helper returns stop_gradient of everything, the loss included
# wrong: g is None
# cure: return tf.stop_gradient(tf.reduce_mean(x**2)) -> return tf.reduce_mean(x**2)
import tensorflow as tf


def energy(x):
    return tf.stop_gradient(tf.reduce_mean(x**2))  # <- here


def objective(x):
    return tf.sqrt(energy(x) + 1.0)


x = tf.Variable([1.0, 2.0, -3.0])
with tf.GradientTape() as tape:
    value = objective(x)
g = tape.gradient(value, x)  # <- asked
print(value.numpy(), g)
