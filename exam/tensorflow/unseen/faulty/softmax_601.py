# expect: GT501
# cause: the weights are normalised over the queries, and summed over the keys
# wrong: abs(float(tf.reduce_sum(layer.last_weights[0, 0])) - 1) > 1e-3
# cure: tf.nn.softmax(scores, axis=1) -> tf.nn.softmax(scores, axis=-1)
import numpy as np
import tensorflow as tf
from tensorflow import keras


class SelfAttention(keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.query = keras.layers.Dense(width, use_bias=False)
        self.key = keras.layers.Dense(width, use_bias=False)
        self.value = keras.layers.Dense(width, use_bias=False)
        self.width = width
        self.last_weights = None

    def call(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = tf.matmul(q, k, transpose_b=True) / self.width**0.5
        weights = tf.nn.softmax(scores, axis=1)  # <- here
        self.last_weights = weights
        return tf.matmul(weights, v)


keras.utils.set_random_seed(9)
layer, head = SelfAttention(8), keras.layers.Dense(1)
sequences = tf.random.normal((6, 5, 8))
target = tf.reduce_max(sequences, axis=[1, 2])[:, None]
optimizer = keras.optimizers.Adam(0.01)
for step in range(4):
    with tf.GradientTape() as tape:
        pooled = tf.reduce_mean(layer(sequences), axis=1)
        loss = tf.reduce_mean((head(pooled) - target) ** 2)
    variables = layer.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
