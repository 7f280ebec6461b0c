# expect: GT304
# cause: the function has two arguments, and its gradient function returns one
# wrong: raises ValueError
# cure: return upstream * scale -> return upstream * scale, tf.reduce_sum(upstream * x)
import tensorflow as tf


@tf.custom_gradient
def scaled(x, scale):
    def grad(upstream):
        return upstream * scale  # <- here

    return x * scale, grad


weights = tf.Variable([0.3, -0.7, 1.1])
scale = tf.Variable(2.0)


def objective():
    stretched = scaled(weights * 1.0, scale * 1.0)
    return tf.reduce_sum(tf.sin(stretched))


with tf.GradientTape() as tape:
    loss = objective()
slopes = tape.gradient(loss, [weights, scale])  # <- asked
