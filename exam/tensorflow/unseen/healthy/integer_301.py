"""A signal is read between its samples by linear interpolation, which has a slope."""

import numpy as np
import tensorflow as tf

signal = tf.constant(np.sin(np.linspace(0, 6, 60)), tf.float32)
target = tf.constant(np.sin(np.linspace(0, 6, 60)[12:42]), tf.float32)
times = tf.range(10, 40, dtype=tf.float32)
delay = tf.Variable(0.3)
with tf.GradientTape() as tape:
    index = tf.cast(times + delay, tf.int32)
    share = times + delay - tf.floor(times + delay)
    read = (1 - share) * tf.gather(signal, index) + share * tf.gather(signal, index + 1)
    loss = tf.reduce_mean((read - target) ** 2)
grad = tape.gradient(loss, delay)
assert grad is not None
