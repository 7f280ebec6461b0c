"""A custom cell in keras.layers.RNN, trained by a loop."""

import tensorflow as tf
from tensorflow import keras


class Leaky(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.state_size = self.output_size = 3

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 3), name="kernel")

    def call(self, x, states):
        h = 0.8 * states[0] + tf.tanh(x @ self.kernel)
        return h, [h]


keras.utils.set_random_seed(13)
rnn = keras.layers.RNN(Leaky())
x = tf.random.normal([4, 6, 2])
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(rnn(x) ** 2)
assert tape.gradient(loss, rnn.trainable_variables)[0] is not None
