# expect: GT201 because GT205
# cause: the update binds the entry to a new tensor, which the tape of the next step does not watch
# wrong: steps_done < 4
# cure: params[name] = params[name] - rate * gradients[name] -> params[name].assign_sub(rate * gradients[name])
import numpy as np
import tensorflow as tf

x = tf.constant(np.linspace(-1, 1, 30), tf.float32)
y = 1.5 * x**2 - 0.5 * x + 0.2
params = {"a": tf.Variable(0.0), "b": tf.Variable(0.0), "c": tf.Variable(0.0)}


def parabola(p, t):
    return p["a"] * t**2 + p["b"] * t + p["c"]


def update(rate, gradients):
    for name in params:
        params[name] = params[name] - rate * gradients[name]  # <- here


steps_done = 0
for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((parabola(params, x) - y) ** 2)
    gradients = tape.gradient(loss, params)  # <- asked
    if any(value is None for value in gradients.values()):
        print("lost the gradient at step", step)
        break
    update(0.3, gradients)
    steps_done += 1
