# expect: GT201 because GT206
# cause: the position is kept in a variable that is assigned, and assigning does not carry gradients
# wrong: slope is None
# cure: position.assign(position + 0.1 * velocity) -> position = position + 0.1 * velocity
# cure: position = tf.Variable(0.0, name="position", trainable=False) -> position = tf.constant(0.0)
import tensorflow as tf

drag = tf.Variable(0.3, name="drag")
start_speed = tf.constant(5.0)


def simulate(steps):
    """How far a ball rolls."""
    position = tf.Variable(0.0, name="position", trainable=False)
    velocity = start_speed
    for _ in range(steps):
        velocity = velocity - 0.1 * drag * velocity
        position.assign(position + 0.1 * velocity)  # <- here
    return position * 1.0


goal = tf.constant(8.0)
for iteration in range(3):
    with tf.GradientTape() as tape:
        miss = (simulate(20) - goal) ** 2
    slope = tape.gradient(miss, drag)  # <- asked
    if slope is not None:
        drag.assign_sub(0.001 * slope)
