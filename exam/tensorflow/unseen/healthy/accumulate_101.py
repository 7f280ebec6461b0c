"""Gradients of micro batches are added in a list and applied together."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
layer = keras.layers.Dense(1)
x, y = tf.random.normal((24, 3)), tf.random.normal((24, 1))
layer.build((None, 3))
optimizer = keras.optimizers.SGD(0.1)
for _ in range(8):
    total = [tf.zeros_like(v) for v in layer.trainable_variables]
    for start in range(0, 24, 8):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((layer(x[start : start + 8]) - y[start : start + 8]) ** 2)
        total = [t + g / 3 for t, g in zip(total, tape.gradient(loss, layer.trainable_variables))]
    optimizer.apply_gradients(zip(total, layer.trainable_variables))
assert float(loss) >= 0
