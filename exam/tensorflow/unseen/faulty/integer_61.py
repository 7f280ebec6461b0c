# expect: GT201 or GT310 because GT207
# cause: the Variable is made of np.arange, which is int64
# wrong: g is None
# cure: np.arange(1, 6) -> np.arange(1.0, 6.0)
import numpy as np
import tensorflow as tf

knots = tf.Variable(np.arange(1, 6))  # <- here
with tf.GradientTape() as tape:
    spacing = knots[1:] - knots[:-1]
    roughness = tf.reduce_sum(spacing * spacing)
g = tape.gradient(roughness, knots)  # <- asked
