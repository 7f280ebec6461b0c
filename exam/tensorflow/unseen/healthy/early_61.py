"""Evaluation outside of tapes, the best weights kept as arrays and put back at the end."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)
model = tf.keras.Sequential([tf.keras.layers.Dense(5, activation="tanh"), tf.keras.layers.Dense(1)])
x = np.random.randn(40, 2).astype("float32")
y = np.sin(x[:, :1])
best, kept = np.inf, None
opt = tf.keras.optimizers.Adam(0.03)
for epoch in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x[:30], training=True) - y[:30]) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    held_out = float(tf.reduce_mean((model(x[30:], training=False) - y[30:]) ** 2))
    if held_out < best:
        best, kept = held_out, model.get_weights()
model.set_weights(kept)
assert np.isfinite(best)
