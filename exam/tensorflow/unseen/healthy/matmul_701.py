import numpy as np
import tensorflow as tf
from tensorflow import keras


class Pooling(keras.layers.Layer):
    """Weighs the steps of a sequence by a learned score."""

    def __init__(self, units):
        super().__init__()
        self.kernel = self.add_weight(shape=(2 * units, 1), name="score", initializer="glorot_uniform")

    def call(self, states):
        scores = tf.nn.tanh(tf.matmul(states, self.kernel))
        weights = tf.nn.softmax(scores, axis=1)
        return tf.reduce_sum(weights * states, axis=1)


keras.utils.set_random_seed(12)
tokens = np.random.randint(1, 30, size=(8, 7))
labels = np.random.randint(0, 2, size=(8, 1)).astype("float32")
embed = keras.layers.Embedding(30, 6)
encoder = keras.layers.Bidirectional(keras.layers.LSTM(8, return_sequences=True))
pool, head = Pooling(8), keras.layers.Dense(1)
with tf.GradientTape() as tape:
    logits = head(pool(encoder(embed(tokens))))
    loss = keras.losses.BinaryCrossentropy(from_logits=True)(labels, logits)
gradients = tape.gradient(loss, pool.trainable_weights + head.trainable_weights)
assert np.isfinite(float(loss))
