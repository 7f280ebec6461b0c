# expect: GT320
# cause: the backward rule of the norm divides by the squared norm
# wrong: not np.allclose(g.numpy(), [0.6, 0.8])
# cure: upstream * v / (n * n) -> upstream * v / n
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def safe_norm(v):
    n = tf.norm(v) + 1e-12

    def backward(upstream):
        return upstream * v / (n * n)  # <- here

    return n, backward


v = tf.Variable([3.0, 4.0])
with tf.GradientTape() as tape:
    length = safe_norm(v)
g = tape.gradient(length, v)  # <- asked
print(g.numpy())
