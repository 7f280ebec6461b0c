"""A tape that is cleared before the batch that counts, not after it."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.layers.Dense(1)
x, y = tf.random.normal((20, 3)), tf.random.normal((20, 1))
with tf.GradientTape() as tape:
    model(x[:1])
    tape.reset()
    error = model(x) - y
    loss = tf.reduce_mean(error**2)
grads = tape.gradient(loss, model.trainable_variables)
assert all(g is not None for g in grads)
