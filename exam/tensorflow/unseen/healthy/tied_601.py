# one matrix is the embedding and, transposed, the output layer
import numpy as np
import tensorflow as tf
from tensorflow import keras


class TiedModel(keras.Model):
    def __init__(self, vocabulary, width):
        super().__init__()
        self.embed = keras.layers.Embedding(vocabulary, width)
        self.mix = keras.layers.Dense(width, activation="tanh")

    def call(self, tokens):
        h = self.mix(self.embed(tokens))
        return tf.matmul(h, self.embed.embeddings, transpose_b=True)


keras.utils.set_random_seed(9)
tokens = np.random.default_rng(9).integers(0, 12, (40, 7))
model = TiedModel(12, 6)
model.compile(keras.optimizers.Adam(0.05), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
log = model.fit(tokens[:, :-1], tokens[:, :-1], epochs=4, verbose=0)
assert log.history["loss"][-1] < log.history["loss"][0]
