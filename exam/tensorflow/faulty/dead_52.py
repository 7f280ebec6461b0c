# expect: GT404
# cause: the prediction is clipped to [0, 1] and all of it lies above 1: the clip has no slope there
# wrong: not np.any(g.numpy())
# cure: tf.Variable([[6.0]]) -> tf.Variable([[0.1]])
import numpy as np
import tensorflow as tf

dose = tf.constant([[0.5], [1.0], [1.5], [2.0]])
effect = tf.constant([[0.2], [0.4], [0.6], [0.8]])
w = tf.Variable([[6.0]])  # <- here


def response(dose):
    return tf.clip_by_value(dose @ w, 0.0, 1.0)  # <- here


for _ in range(5):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((response(dose) - effect) ** 2)
    g = tape.gradient(loss, w)  # <- asked
    w.assign_sub(0.5 * g)
print(w.numpy())
