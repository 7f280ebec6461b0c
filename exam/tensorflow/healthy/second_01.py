"""Second derivatives with nested tapes."""

import numpy as np
import tensorflow as tf

x = tf.Variable(2.0)
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = x**3 + tf.sin(x)
    dy = inner.gradient(y, x)
d2y = outer.gradient(dy, x)
assert np.isclose(float(dy), 12.0 + np.cos(2.0))
assert np.isclose(float(d2y), 12.0 - np.sin(2.0))
