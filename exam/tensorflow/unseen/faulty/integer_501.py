# expect: GT201 or GT310 because GT207
# cause: the temperatures are given as integers, so the variable is an integer and has no gradient
# wrong: slope is None
# cure: tf.Variable([10, 20, 30]) -> tf.Variable([10.0, 20.0, 30.0])
# cure: tf.cast(temperature, tf.float32) / 40.0 -> temperature / 40.0
import tensorflow as tf

temperature = tf.Variable([10, 20, 30])  # <- here


def growth():
    t = tf.cast(temperature, tf.float32) / 40.0
    return tf.reduce_sum(t * tf.exp(-t))


with tf.GradientTape() as tape:
    rate = growth()
slope = tape.gradient(rate, temperature)  # <- asked
