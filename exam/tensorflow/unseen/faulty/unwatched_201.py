# expect: GT203 or GT314 or GT305
# cause: the tape is told to watch a NumPy array, which it cannot
# wrong: raises Exception
# cure: x = np.array([0.5, 1.5]) -> x = tf.constant([0.5, 1.5])
import numpy as np
import tensorflow as tf

x = np.array([0.5, 1.5])  # <- here
with tf.GradientTape() as tape:
    tape.watch(x)  # <- here
    y = tf.reduce_sum(tf.sin(x))
slope = tape.gradient(y, x)
