# expect: GT201 because GT210
# cause: every state is written into a NumPy array, which keeps numbers only
# wrong: gradient is None
# cure: path = np.zeros((20, 2), dtype="float32") -> path = [None] * 20
# cure: tf.constant(path) -> tf.stack(path)
import numpy as np
import tensorflow as tf

target = tf.constant([3.0, 1.0])
velocity = tf.Variable([1.0, 2.0], name="velocity")


def simulate(velocity, steps=20, dt=0.1):
    position, speed = tf.zeros(2), velocity
    path = np.zeros((20, 2), dtype="float32")
    for t in range(steps):
        speed = speed + dt * tf.constant([0.0, -1.5])
        position = position + dt * speed
        path[t] = position  # <- here
    return tf.constant(path)  # <- here


with tf.GradientTape() as tape:
    path = simulate(velocity)
    loss = tf.reduce_min(tf.reduce_sum((path - target) ** 2, axis=1))
gradient = tape.gradient(loss, velocity)  # <- asked
