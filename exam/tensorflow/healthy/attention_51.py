"""A transformer block from keras layers with residuals and weight tying of the output."""

import numpy as np
import tensorflow as tf
from tensorflow import keras


class Tiny(keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = keras.layers.Embedding(12, 8)
        self.attention = keras.layers.MultiHeadAttention(2, 4)
        self.norm = keras.layers.LayerNormalization()

    def call(self, ids):
        x = self.embed(ids)
        x = self.norm(x + self.attention(x, x, use_causal_mask=True))
        return tf.matmul(x, self.embed.embeddings, transpose_b=True)


keras.utils.set_random_seed(0)
ids = np.random.randint(0, 12, size=(6, 9))
model = Tiny()
opt = keras.optimizers.Adam(0.01)
losses = []
for _ in range(6):
    with tf.GradientTape() as tape:
        logits = model(ids[:, :-1])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=ids[:, 1:], logits=logits))
    opt.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
    losses.append(float(loss))
assert losses[-1] < losses[0]
