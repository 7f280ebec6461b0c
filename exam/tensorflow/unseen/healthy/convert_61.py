"""Data in float64 that is cast once, and a metric computed in NumPy beside the loss."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
x, y = rng.normal(size=(25, 3)), rng.normal(size=(25, 1))
x32, y32 = tf.cast(x, tf.float32), tf.cast(y, tf.float32)
model = tf.keras.layers.Dense(1)
scores = []
for _ in range(3):
    with tf.GradientTape() as tape:
        p = model(x32)
        loss = tf.reduce_mean((p - y32) ** 2)
    scores.append(np.corrcoef(p.numpy()[:, 0], y[:, 0])[0, 1])
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables)):
        v.assign_sub(0.1 * g)
assert len(scores) == 3
