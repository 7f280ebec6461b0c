# expect: GT320
# cause: the rule of x * sigmoid(x) leaves out the slope of the sigmoid
# wrong: not np.allclose(gradient, expected, rtol=1e-3)
# cure: return upstream * s -> return upstream * (s + x * s * (1.0 - s))
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def swish(x):
    s = tf.sigmoid(x)

    def grad(upstream):
        return upstream * s  # <- here

    return x * s, grad


tf.random.set_seed(11)
x = tf.random.normal((8, 5))
W = tf.Variable(tf.random.normal((5, 4), stddev=0.5))
with tf.GradientTape(persistent=True) as tape:
    loss = tf.reduce_sum(swish(tf.matmul(x, W)) ** 2)  # <- asked
    reference = tf.reduce_sum(tf.nn.silu(tf.matmul(x, W)) ** 2)
gradient = tape.gradient(loss, W)  # <- asked
expected = tape.gradient(reference, W)
