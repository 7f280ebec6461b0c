# expect: GT401
# cause: the quaternions are not normalised, so that their product exceeds 1 and its arc cosine is NaN
# wrong: not np.isfinite(float(loss))
# cure: tf.reduce_sum(predicted * truth, axis=1) -> 0.99 * tf.reduce_sum(tf.math.l2_normalize(predicted, axis=1) * truth, axis=1)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(28)
sensors = tf.constant(np.random.randn(12, 9), tf.float32)
truth = tf.math.l2_normalize(tf.constant(np.random.randn(12, 4), tf.float32), axis=1)
net = tf.keras.Sequential([tf.keras.Input((9,)), tf.keras.layers.Dense(16, "tanh"), tf.keras.layers.Dense(4)])


def angle(predicted, truth):
    cosine = tf.reduce_sum(predicted * truth, axis=1)
    return 2.0 * tf.acos(tf.abs(cosine))  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(angle(net(sensors), truth))
gradients = tape.gradient(loss, net.trainable_variables)  # <- asked
