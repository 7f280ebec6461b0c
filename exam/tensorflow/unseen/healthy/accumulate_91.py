"""Gradients of small batches are added up, and applied once."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
opt = tf.keras.optimizers.SGD(0.1)
x, y = tf.random.normal((16, 3)), tf.random.normal((16, 1))
for _ in range(2):
    total = [tf.zeros_like(v) for v in model.trainable_variables]
    for start in range(0, 16, 4):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x[start : start + 4]) - y[start : start + 4]) ** 2) / 4
        total = [t + g for t, g in zip(total, tape.gradient(loss, model.trainable_variables))]
    opt.apply_gradients(zip(total, model.trainable_variables))
assert all(bool(tf.reduce_any(t != 0)) for t in total)
