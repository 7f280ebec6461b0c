"""Images minus the mean of each channel, and a gain for each channel."""

import tensorflow as tf

images = tf.random.stateless_uniform([4, 6, 6, 3], seed=[1, 1])
gain = tf.Variable([1.0, 2.0, 0.5])
with tf.GradientTape() as tape:
    centred = images - tf.reduce_mean(images, axis=[0, 1, 2])
    loss = tf.reduce_mean((centred * gain) ** 2)
assert tape.gradient(loss, gain).shape == (3,)
