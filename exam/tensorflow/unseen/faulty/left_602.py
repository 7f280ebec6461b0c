# expect: GT201 because GT210
# cause: float() takes each loss off the tape, so the total is a plain number
# wrong: gradient is None
# cure: total += float(huber(target - response)) -> total += huber(target - response)
import tensorflow as tf

gains = tf.Variable([0.5, 0.1], name="gains")


def plant(u, state):
    return 0.9 * state + 0.2 * u


def huber(e):
    return tf.where(tf.abs(e) < 1.0, 0.5 * e**2, tf.abs(e) - 0.5)


def control_cost(targets):
    total = 0.0
    for target in targets:
        response, integral = tf.constant(0.0), tf.constant(0.0)
        for _ in range(8):
            error = target - response
            integral += error
            response = plant(gains[0] * error + gains[1] * integral, response)
        total += float(huber(target - response))  # <- here
    return tf.convert_to_tensor(total / len(targets))


with tf.GradientTape() as tape:
    cost = control_cost([1.0, 2.0, -1.5])
gradient = tape.gradient(cost, gains)  # <- asked
