import numpy as np
import tensorflow as tf
from tensorflow import keras


class AttentionPool(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.score = keras.layers.Dense(1)

    def call(self, states):
        weights = tf.nn.softmax(self.score(states), axis=1)
        return tf.reduce_sum(weights * states, axis=1), weights


keras.utils.set_random_seed(27)
series = tf.constant(np.random.randn(10, 15, 3), tf.float32)
targets = tf.reduce_max(series[:, :, 0], axis=1)
encoder, pool, head = keras.layers.GRU(8, return_sequences=True), AttentionPool(), keras.layers.Dense(1)
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        summary, weights = pool(encoder(series))
        loss = tf.reduce_mean((tf.squeeze(head(summary), 1) - targets) ** 2)
    variables = encoder.trainable_weights + pool.trainable_weights + head.trainable_weights
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert not (np.allclose(weights.numpy(), 1.0))
