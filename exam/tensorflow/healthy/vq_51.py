"""Vector quantisation: argmin picks codes, the gradient is copied straight through."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(20, 6)).astype("float32")
enc = tf.Variable(rng.normal(size=(6, 2)) * 0.5, dtype=tf.float32)
dec = tf.Variable(rng.normal(size=(2, 6)) * 0.5, dtype=tf.float32)
codebook = tf.Variable(rng.normal(size=(8, 2)), dtype=tf.float32)
with tf.GradientTape() as tape:
    z = x @ enc
    distances = tf.reduce_sum((z[:, None, :] - codebook[None, :, :]) ** 2, axis=2)
    codes = tf.argmin(distances, axis=1)
    q = tf.gather(codebook, codes)
    straight = z + tf.stop_gradient(q - z)
    loss = (
        tf.reduce_mean((straight @ dec - x) ** 2)
        + tf.reduce_mean((tf.stop_gradient(z) - q) ** 2)
        + 0.25 * tf.reduce_mean((z - tf.stop_gradient(q)) ** 2)
    )
grads = tape.gradient(loss, [enc, dec, codebook])
assert all(np.any(tf.convert_to_tensor(g).numpy()) for g in grads)
