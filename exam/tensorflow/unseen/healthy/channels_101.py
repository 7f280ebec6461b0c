"""Channels are moved to the end with transpose; flattening is a reshape of neighbours."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
raw = tf.random.normal((6, 3, 8, 8))
images = tf.transpose(raw, (0, 2, 3, 1))
conv, head = keras.layers.Conv2D(4, 3), keras.layers.Dense(1)
y = tf.random.normal((6, 1))
for _ in range(3):
    with tf.GradientTape() as tape:
        features = tf.reshape(conv(images), (6, -1))
        loss = tf.reduce_mean((head(features) - y) ** 2)
    variables = conv.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    for v, g in zip(variables, grads):
        v.assign_sub(0.01 * g)
assert float(loss) > 0
