"""tf.function with control flow: a while loop over time and a conditional penalty."""

import numpy as np
import tensorflow as tf

w = tf.Variable(0.5)


@tf.function
def simulate(x, penalise):
    with tf.GradientTape() as tape:
        state = x
        for _ in tf.range(5):
            state = tf.tanh(w * state + 0.1)
        loss = tf.reduce_mean(state**2)
        if penalise:
            loss += 0.1 * w**2
    return loss, tape.gradient(loss, w)


x = tf.constant([0.5, -1.0, 2.0])
loss, g = simulate(x, tf.constant(True))
eps = 1e-3
w.assign(0.5 + eps)
up, _ = simulate(x, tf.constant(True))
w.assign(0.5 - eps)
down, _ = simulate(x, tf.constant(True))
assert np.isclose(float(g), (float(up) - float(down)) / (2 * eps), rtol=1e-2)
