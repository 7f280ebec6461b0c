"""Several losses, one persistent tape, gradients combined by hand."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
shared, a, b = keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1), keras.layers.Dense(1)
x = np.random.rand(20, 3).astype("float32")
with tf.GradientTape(persistent=True) as tape:
    h = shared(x)
    loss_a = tf.reduce_mean((a(h) - x[:, :1]) ** 2)
    loss_b = tf.reduce_mean(tf.abs(b(h) - x[:, 1:2]))
ga = tape.gradient(loss_a, shared.trainable_variables)
gb = tape.gradient(loss_b, shared.trainable_variables)
untouched = [v.value for v in b.trainable_variables]
none = tape.gradient(loss_a, untouched, unconnected_gradients=tf.UnconnectedGradients.ZERO)
del tape
combined = [p + 0.1 * q for p, q in zip(ga, gb)]
assert all(np.isfinite(c.numpy()).all() for c in combined)
assert not np.any(none[0].numpy())
