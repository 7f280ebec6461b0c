# expect: GT201 because GT209 or GT210
# cause: np.sinc runs inside tf.numpy_function, which has no gradient
# wrong: slope is None
# cure: tf.numpy_function(np.sinc, [width * t], tf.float32) -> tf.sin(np.pi * width * t) / (np.pi * width * t)
import numpy as np
import tensorflow as tf

t = tf.linspace(0.1, 3.0, 40)
signal = tf.constant(np.sinc(1.7 * np.linspace(0.1, 3.0, 40)), dtype=tf.float32)
width = tf.Variable(1.0)

with tf.GradientTape() as tape:
    model = tf.numpy_function(np.sinc, [width * t], tf.float32)  # <- here
    misfit = tf.reduce_mean(tf.square(model - signal))
slope = tape.gradient(misfit, width)  # <- asked
