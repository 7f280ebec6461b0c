"""Cells, layers over cells, states that are kept, both directions, and masks."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.backend.clear_session()

small = tf.keras.initializers.Constant(0.1)
x = tf.reshape(tf.range(24.0), [2, 3, 4]) / 24.0
how = {"kernel_initializer": small, "recurrent_initializer": small}
outputs, hidden, carry = layers.RNN(layers.LSTMCell(2, **how), return_sequences=True, return_state=True)(x)
print(outputs[0], hidden, carry)
print(layers.RNN([layers.GRUCell(2, **how), layers.SimpleRNNCell(2, **how)])(x))


class Sum(tf.keras.layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")

    def call(self, inputs, states):
        output = tf.matmul(inputs, self.kernel) + states[0]
        return output, [output]


print(layers.RNN(Sum(2))(x))
backwards = layers.LSTM(2, return_sequences=True, go_backwards=True, **how)
print(backwards(x)[0], [w.path for w in backwards.weights])
print(layers.Bidirectional(layers.LSTM(2, **how), merge_mode="sum")(x))
stateful = layers.LSTM(2, stateful=True, **how)
print(stateful(x), stateful(x))
stateful.reset_state()
print(stateful(x)[0])

masked = tf.keras.Sequential([layers.Masking(0.0), layers.LSTM(2, **how)])
print(masked(tf.constant([[[1.0], [2.0], [0.0]]])), masked(tf.constant([[[1.0], [2.0]]])))
embedding = layers.Embedding(5, 2, mask_zero=True, embeddings_initializer="ones")
print(embedding.compute_mask(tf.constant([[1, 0]])))
kept = layers.GRU(2, return_sequences=True, **how)(embedding(tf.constant([[3, 2, 0]])))
print(kept)
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.reduce_sum(layers.RNN(layers.GRUCell(2, **how))(x))
print(tape.gradient(y, x)[0])
