# expect: GT201 because GT206
# cause: the hidden state is a Variable that is assigned to; the gradient ends at the assignment
# wrong: g_in is None
# cure: state.assign(tf.tanh(x_t * w_in + state * w_rec))  # <- here\n -> state = tf.tanh(x_t * w_in + state * w_rec)\n
import numpy as np
import tensorflow as tf

signal = np.sin(np.arange(8) / 2.0).astype("float32")
w_in = tf.Variable(0.5)
w_rec = tf.Variable(0.9)
state = tf.Variable(0.0, trainable=False)

with tf.GradientTape() as tape:
    for x_t in signal:
        state.assign(tf.tanh(x_t * w_in + state * w_rec))  # <- here
    loss = (state - 0.3) ** 2
g_in, g_rec = tape.gradient(loss, [w_in, w_rec])  # <- asked
print(g_in, g_rec)
