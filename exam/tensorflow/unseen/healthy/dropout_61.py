"""Dropout, spatial dropout and noise in training; the same model without them in evaluation."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(9)
model = tf.keras.Sequential(
    [layers.GaussianNoise(0.1), layers.Dense(16, activation="relu"), layers.Dropout(0.5), layers.Dense(1)]
)
x = tf.random.normal([32, 5])
y = x[:, :1]
opt = tf.keras.optimizers.Adam(0.01)
before = float(tf.reduce_mean((model(x, training=False) - y) ** 2))
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
assert float(tf.reduce_mean((model(x, training=False) - y) ** 2)) < before
