"""A TensorArray that is bound to what write returns."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
w = tf.Variable(tf.random.normal((4, 4)))


@tf.function
def gradients(x):
    with tf.GradientTape() as tape:
        states = tf.TensorArray(tf.float32, size=5, element_shape=(3, 4))
        state = x
        for i in tf.range(5):
            state = tf.tanh(state @ w)
            states = states.write(i, state)
        loss = tf.reduce_mean(states.stack() ** 2)
    return tape.gradient(loss, [w], unconnected_gradients="zero")


grads = gradients(tf.random.normal((3, 4)))
assert all(g is not None for g in grads)
