import numpy as np
import tensorflow as tf

x = tf.constant([0.5, 1.5])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(tf.sin(x))
slope = tape.gradient(y, x)
assert slope is not None
