"""Polyak averages of weights in plain NumPy arrays, beside the training."""

import numpy as np
import tensorflow as tf

model = tf.keras.layers.Dense(1)
x = tf.random.stateless_normal([12, 3], seed=[0, 3])
model.build(x.shape)
average = [np.zeros(v.shape) for v in model.trainable_variables]
for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(x) ** 2)
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.1 * g)
    average = [0.9 * a + 0.1 * v.numpy() for a, v in zip(average, model.trainable_variables)]
assert np.isfinite(average[0]).all()
