"""Mixed precision: a float16 policy with a loss-scaled optimiser."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
dense = keras.layers.Dense(8, activation="relu", dtype="mixed_float16")
head = keras.layers.Dense(1, dtype="float32")
model = keras.Sequential([keras.layers.Input((4,)), dense, head])
opt = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.05))
x = np.random.rand(32, 4).astype("float32")
y = x.sum(axis=1, keepdims=True)
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(x) - y) ** 2)
        scaled = opt.scale_loss(loss)
    opt.apply(tape.gradient(scaled, model.trainable_variables), model.trainable_variables)
    losses.append(float(loss))
assert losses[-1] < losses[0]
