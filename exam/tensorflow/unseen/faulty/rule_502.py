# expect: GT304
# cause: the operation has two inputs and its gradient function returns one gradient
# wrong: raises ValueError
# cure: return upstream * (1 - y**2) -> return upstream * (1 - y**2), None
import tensorflow as tf


@tf.custom_gradient
def quantised_tanh(x, levels):
    y = tf.tanh(x)

    def grad(upstream):
        return upstream * (1 - y**2)  # <- here

    return tf.round(y * levels) / levels, grad


w = tf.Variable([0.3, -0.8, 1.2])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(quantised_tanh(w, tf.constant(8.0)) * [1.0, 2.0, 3.0])
grad = tape.gradient(loss, w)  # <- asked
