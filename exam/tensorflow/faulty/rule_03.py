# expect: GT304
# cause: the custom gradient returns one gradient for two arguments
# wrong: raises ValueError
# cure: return upstream * scale -> return upstream * scale, tf.reduce_sum(upstream * x)
import tensorflow as tf


@tf.custom_gradient
def scaled(x, scale):
    def grad(upstream):
        return upstream * scale  # <- here

    return x * scale, grad


x = tf.Variable([1.0, 2.0, 3.0])
s = tf.Variable(0.5)
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.square(scaled(x, s)))
dx, ds = tape.gradient(loss, [x, s])  # <- asked
