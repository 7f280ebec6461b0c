# expect: GT111
# cause: the bidirectional layer gives twice the units, 16, and the kernel of the attention is made for 8
# wrong: raises InvalidArgumentError
# cure: shape=(units, 1), name="score" -> shape=(2 * units, 1), name="score"
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Pooling(keras.layers.Layer):
    """Weighs the steps of a sequence by a learned score."""

    def __init__(self, units):
        super().__init__()
        self.kernel = self.add_weight(shape=(units, 1), name="score", initializer="glorot_uniform")

    def call(self, states):
        scores = tf.nn.tanh(tf.matmul(states, self.kernel))  # <- here
        weights = tf.nn.softmax(scores, axis=1)
        return tf.reduce_sum(weights * states, axis=1)


keras.utils.set_random_seed(12)
tokens = np.random.randint(1, 30, size=(8, 7))
labels = np.random.randint(0, 2, size=(8, 1)).astype("float32")
embed = keras.layers.Embedding(30, 6)
encoder = keras.layers.Bidirectional(keras.layers.LSTM(8, return_sequences=True))
pool, head = Pooling(8), keras.layers.Dense(1)
with tf.GradientTape() as tape:
    logits = head(pool(encoder(embed(tokens))))  # <- asked
    loss = keras.losses.BinaryCrossentropy(from_logits=True)(labels, logits)
gradients = tape.gradient(loss, pool.trainable_weights + head.trainable_weights)
