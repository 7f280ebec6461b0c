"""Two models in one step: parts of the tape's sources have no gradient, and they are not given to the optimiser."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
teacher = keras.Sequential([keras.layers.Dense(16, activation="relu"), keras.layers.Dense(3)])
student = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(3)])
x, y = np.random.randn(30, 5).astype("float32"), np.random.randint(0, 3, 30)
kl, ce = keras.losses.KLDivergence(), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
opt = keras.optimizers.Adam(0.02)
T, losses = 3.0, []
for _ in range(8):
    soft = tf.nn.softmax(teacher(x, training=False) / T)
    with tf.GradientTape() as tape:
        logits = student(x, training=True)
        loss = 0.3 * ce(y, logits) + 0.7 * T**2 * kl(soft, tf.nn.softmax(logits / T))
    opt.apply_gradients(zip(tape.gradient(loss, student.trainable_variables), student.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
