"""Accuracy by argmax, means with float() and .numpy(): numbers for the log, not for the loss."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
x = np.random.randn(90, 4).astype("float32")
y = np.argmax(x[:, :3], axis=1)
model = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
opt = keras.optimizers.Adam(0.05)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
running, log = 0.0, []
for step in range(15):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = loss_fn(y, logits)
    accuracy = np.mean(np.argmax(logits.numpy(), axis=1) == y)
    running = 0.9 * running + 0.1 * float(loss)
    log.append((accuracy, running))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert log[-1][0] > log[0][0]
