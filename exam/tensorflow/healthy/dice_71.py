"""A dice loss of probabilities against masks of the same shape, summed over pixels."""

import tensorflow as tf

tf.keras.utils.set_random_seed(3)
conv = tf.keras.layers.Conv2D(1, 3, padding="same", activation="sigmoid")
images = tf.random.uniform([2, 8, 8, 1])
masks = tf.cast(images > 0.5, tf.float32)
with tf.GradientTape() as tape:
    p = conv(images)
    overlap = 2 * tf.reduce_sum(p * masks, axis=[1, 2, 3])
    loss = 1 - tf.reduce_mean((overlap + 1) / (tf.reduce_sum(p + masks, axis=[1, 2, 3]) + 1))
assert all(g is not None for g in tape.gradient(loss, conv.trainable_variables))
