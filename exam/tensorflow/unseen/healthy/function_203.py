import math

import tensorflow as tf

w = tf.Variable([0.5, -2.0])


@tf.function
def step():
    with tf.GradientTape() as tape:
        size = tf.exp(tf.norm(w))
        loss = tf.reduce_sum(w**3) / size
    return tape.gradient(loss, w)


grad = step()
assert grad is not None
