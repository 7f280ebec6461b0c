import tensorflow as tf

drag = tf.Variable(0.3, name="drag")
start_speed = tf.constant(5.0)


def simulate(steps):
    """How far a ball rolls."""
    position = tf.constant(0.0)
    velocity = start_speed
    for _ in range(steps):
        velocity = velocity - 0.1 * drag * velocity
        position = position + 0.1 * velocity
    return position * 1.0


goal = tf.constant(8.0)
for iteration in range(3):
    with tf.GradientTape() as tape:
        miss = (simulate(20) - goal) ** 2
    slope = tape.gradient(miss, drag)
    if slope is not None:
        drag.assign_sub(0.001 * slope)
assert slope is not None
