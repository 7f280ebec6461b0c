import numpy as np
import tensorflow as tf

target = tf.constant([3.0, 1.0])
velocity = tf.Variable([1.0, 2.0], name="velocity")


def simulate(velocity, steps=20, dt=0.1):
    position, speed = tf.zeros(2), velocity
    path = [None] * 20
    for t in range(steps):
        speed = speed + dt * tf.constant([0.0, -1.5])
        position = position + dt * speed
        path[t] = position
    return tf.stack(path)


with tf.GradientTape() as tape:
    path = simulate(velocity)
    loss = tf.reduce_min(tf.reduce_sum((path - target) ** 2, axis=1))
gradient = tape.gradient(loss, velocity)
assert gradient is not None
