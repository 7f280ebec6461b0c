"""A stateful cell unrolled by hand with truncated backpropagation: the state is stopped between windows."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
cell, head = keras.layers.GRUCell(6), keras.layers.Dense(1)
opt = keras.optimizers.Adam(0.02)
signal = np.sin(np.arange(61) / 4).astype("float32")
losses = []
for _ in range(3):
    state, total = tf.zeros((1, 6)), 0.0
    for start in range(0, 60, 15):
        state = tf.stop_gradient(state)
        with tf.GradientTape() as tape:
            loss = 0.0
            for t in range(start, start + 15):
                out, states = cell(tf.reshape(signal[t], (1, 1)), [state])
                state = states[0] if isinstance(states, list) else states
                loss += tf.reduce_mean((head(out) - signal[t + 1]) ** 2) / 15
        variables = cell.trainable_variables + head.trainable_variables
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        total += float(loss)
    losses.append(total)
assert losses[-1] < losses[0]
