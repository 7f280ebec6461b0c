# expect: GT201 because GT210
# cause: float() takes the amplitude out of TensorFlow before the curve is computed from it
# wrong: any(g is None for g in grads)
# cure: a, f = float(amplitude), float(frequency) -> a, f = amplitude, frequency
import math

import tensorflow as tf

times = tf.linspace(0.0, 1.0, 100)
measured = 1.3 * tf.sin(2 * math.pi * 2.1 * times)
amplitude = tf.Variable(1.0)
frequency = tf.Variable(2.0)


def wave():
    a, f = float(amplitude), float(frequency)  # <- here
    return a * tf.sin(2 * math.pi * f * times)


with tf.GradientTape() as tape:
    residuals = wave() - measured
    loss = tf.reduce_sum(residuals**2)
grads = tape.gradient(loss, [amplitude, frequency])  # <- asked
print(grads)
