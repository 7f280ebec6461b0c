# expect: GT401
# cause: a negative base is raised to a broken power
# wrong: not np.isfinite(loss.numpy())
# cure: flow**exponent -> tf.abs(flow)**exponent
import numpy as np
import tensorflow as tf

pressure = tf.constant([2.0, 1.0, -0.5, 3.0])
conductance, exponent = tf.Variable(0.8), tf.Variable(0.54)

for _ in range(3):
    with tf.GradientTape() as tape:
        flow = conductance * pressure
        head_loss = flow**exponent  # <- here
        loss = tf.reduce_sum((head_loss - 1.0) ** 2)
    slopes = tape.gradient(loss, [conductance, exponent])  # <- asked
