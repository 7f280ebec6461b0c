# expect: GT201 or GT210 or GT314 or GT313 because GT210
# cause: a NumPy function turns the tensor into an array, so that the loss is not recorded
# wrong: grads[0] is None
# cure: return tf.constant(gammaln(shape * 1.0), tf.float32) -> return tf.math.lgamma(shape)
import math

import numpy as np
import tensorflow as tf

gammaln = np.vectorize(math.lgamma)


def log_gamma(shape):
    return tf.constant(gammaln(shape * 1.0), tf.float32)  # <- here


log_shape = tf.Variable(0.0)
waits = tf.constant(np.random.default_rng(0).gamma(3.0, 1.0, 300), tf.float32)


def nll():
    """Gamma distribution of waiting times with rate 1."""
    shape = tf.exp(log_shape)
    normaliser = log_gamma(shape)
    return normaliser


trace = []
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = nll() * tf.reduce_mean(waits)
    grads = tape.gradient(loss, [log_shape])  # <- asked
    trace.append(float(loss))
