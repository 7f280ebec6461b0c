"""Gradient accumulation over four micro-batches on purpose."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(0.02)
x = np.random.randn(64, 3).astype("float32")
y = x.sum(axis=1, keepdims=True)
losses = []
for epoch in range(6):
    total = [tf.zeros_like(v) for v in model.trainable_variables]
    epoch_loss = 0.0
    for part in range(4):
        xb, yb = x[16 * part : 16 * part + 16], y[16 * part : 16 * part + 16]
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(xb) - yb) ** 2) / 4
        grads = tape.gradient(loss, model.trainable_variables)
        total = [t + g for t, g in zip(total, grads)]
        epoch_loss += float(loss)
    opt.apply_gradients(zip(total, model.trainable_variables))
    losses.append(epoch_loss)
assert losses[-1] < losses[0]
