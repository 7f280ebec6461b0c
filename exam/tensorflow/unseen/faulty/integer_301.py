# expect: GT201 because GT207 or GT209
# cause: the position is rounded down to an index for gather, so that the delay gets no gradient
# wrong: grad is None
# cure: loss = tf.reduce_mean((tf.gather(signal, index) - target) ** 2) -> share = times + delay - tf.floor(times + delay)\n    read = (1 - share) * tf.gather(signal, index) + share * tf.gather(signal, index + 1)\n    loss = tf.reduce_mean((read - target) ** 2)
import numpy as np
import tensorflow as tf

signal = tf.constant(np.sin(np.linspace(0, 6, 60)), tf.float32)
target = tf.constant(np.sin(np.linspace(0, 6, 60)[12:42]), tf.float32)
times = tf.range(10, 40, dtype=tf.float32)
delay = tf.Variable(0.3)
with tf.GradientTape() as tape:
    index = tf.cast(times + delay, tf.int32)  # <- here
    loss = tf.reduce_mean((tf.gather(signal, index) - target) ** 2)  # <- here
grad = tape.gradient(loss, delay)  # <- asked
