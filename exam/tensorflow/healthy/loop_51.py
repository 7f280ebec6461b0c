"""Predictions squeezed before they meet flat targets, in a loop over a tf.data pipeline."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
x = np.random.randn(80, 4).astype("float32")
y = x[:, 0] - 2 * x[:, 3]
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(32)
net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.Adam(0.03)
epochs = []
for _ in range(8):
    total = 0.0
    for xb, yb in data:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.squeeze(net(xb), axis=-1) - yb))
        opt.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        total += loss.numpy()
    epochs.append(total)
assert epochs[-1] < epochs[0]
