import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


class SpamFilter(tf.keras.Model):
    def __init__(self, vocabulary=50, width=8):
        super().__init__()
        self.embed = layers.Embedding(vocabulary, width)
        self.pool = layers.GlobalAveragePooling1D()
        self.hidden = layers.Dense(16, activation="relu")
        self.score = layers.Dense(1, activation="sigmoid", name="score")

    def call(self, tokens):
        return self.score(self.hidden(self.pool(self.embed(tokens))))


tf.keras.utils.set_random_seed(11)
rng = np.random.default_rng(2)
x = rng.integers(0, 50, size=(64, 12))
is_spam = (x[:, :6].mean(axis=1) > 24).astype("float32")

model = SpamFilter()
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, is_spam, epochs=2, batch_size=16, verbose=0)
assert not (model.loss == "binary_crossentropy" and np.any(model(x).numpy() < 0))
