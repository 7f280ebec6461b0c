"""Matrix factorisation with embeddings; biases (n, 1) meet a dot product (n, 1)."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Recommender(keras.Model):
    def __init__(self, users, items, dim=4):
        super().__init__()
        self.user, self.item = keras.layers.Embedding(users, dim), keras.layers.Embedding(items, dim)
        self.user_bias, self.item_bias = keras.layers.Embedding(users, 1), keras.layers.Embedding(items, 1)

    def call(self, pair):
        u, i = pair[:, 0], pair[:, 1]
        dot = tf.reduce_sum(self.user(u) * self.item(i), axis=1, keepdims=True)
        return dot + self.user_bias(u) + self.item_bias(i)


keras.utils.set_random_seed(0)
pairs = np.stack([np.random.randint(0, 10, 50), np.random.randint(0, 8, 50)], axis=1)
stars = np.random.randint(1, 6, size=(50, 1)).astype("float32")
model = Recommender(10, 8)
opt = keras.optimizers.Adam(0.1)
losses = []
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((model(pairs) - stars) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
