import numpy as np
import tensorflow as tf

exposure = tf.Variable(1.2, name="exposure")
black = tf.Variable(0.15, name="black")
rng = np.random.default_rng(0)
linear = tf.constant(rng.random((8, 8, 3)), tf.float32)
reference = tf.constant(rng.random((8, 8, 3)), tf.float32)


def tone_map(image):
    scaled = exposure * (image - black)
    return tf.where(scaled > 0.0, tf.pow(tf.where(scaled > 0.0, scaled, 1.0), 1.0 / 2.4), 0.0)


def loss_fn():
    return tf.reduce_mean(tf.square(tone_map(linear) - reference))


with tf.GradientTape() as tape:
    loss = loss_fn()
grad = tape.gradient(loss, exposure)
assert not (not np.all(np.isfinite(grad.numpy())))
