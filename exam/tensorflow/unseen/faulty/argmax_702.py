# expect: GT201 because GT209 or GT207
# cause: the loss compares histograms, which count pixels and have no derivative
# wrong: gradient is None
# cure: tf.cast(tf.histogram_fixed_width(values, [0.0, 1.0], nbins=10), tf.float32) -> soft_histogram(values)
import tensorflow as tf

tf.random.set_seed(2)
source = tf.random.uniform((40, 40)) ** 2
wanted = tf.random.uniform((40, 40))
gain = tf.Variable(1.0, name="gain")
offset = tf.Variable(0.1, name="offset")
centres = tf.linspace(0.05, 0.95, 10)


def soft_histogram(values):
    return tf.reduce_sum(tf.exp(-((values - centres) ** 2) / 0.005), axis=0)


def histogram(picture):
    values = tf.reshape(picture, [-1, 1])
    return tf.cast(tf.histogram_fixed_width(values, [0.0, 1.0], nbins=10), tf.float32)  # <- here


with tf.GradientTape() as tape:
    adjusted = gain * source + offset
    difference = histogram(adjusted) - histogram(wanted)
    loss = tf.reduce_mean(tf.square(difference)) / 1600.0
gradient = tape.gradient(loss, gain)  # <- asked
