# expect: GT201 because GT203
# cause: x is a constant, and the tape watches only Variables unless it is told to
# wrong: dy_dx is None
# cure: as tape:\n    y -> as tape:\n    tape.watch(x)\n    y
import numpy as np
import tensorflow as tf

x = tf.constant(np.linspace(-3.0, 3.0, 50), dtype=tf.float32)  # <- here

with tf.GradientTape() as tape:
    y = tf.sin(x) * tf.exp(-(x**2) / 4)  # <- here
dy_dx = tape.gradient(y, x)  # <- asked

print("slope:", dy_dx)
