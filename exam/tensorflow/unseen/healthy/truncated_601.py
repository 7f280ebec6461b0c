# the state of an RNN is carried from window to window without its gradient
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
cell = tf.keras.layers.GRUCell(8)
readout = tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.Adam(0.02)
signal = np.sin(np.arange(161) * 0.3).astype("float32")
state = tf.zeros((1, 8))
losses = []
for start in range(0, 160, 20):
    with tf.GradientTape() as tape:
        h, loss = state, 0.0
        for t in range(start, start + 20):
            out, h = cell(tf.reshape(signal[t], (1, 1)), h)
            loss += tf.reduce_sum((readout(out) - signal[t + 1]) ** 2) / 20.0
    state = tf.stop_gradient(h)
    variables = cell.trainable_variables + readout.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    losses.append(float(loss))
assert min(losses[2:]) < losses[0]
