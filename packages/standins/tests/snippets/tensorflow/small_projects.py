"""Pieces of projects: a differential equation, a policy, an autoencoder that draws, a transformer, pairs of inputs."""

import numpy as np
import tensorflow as tf
import tensorflow.keras.backend as K
from tensorflow import keras
from tensorflow.keras import layers

small = keras.initializers.Constant(0.1)
rng = np.random.default_rng(0)

# u'' + u = 0 with u(0) = 1: second derivatives inside of the loss
net = keras.Sequential([keras.Input((1,)), layers.Dense(8, "tanh", kernel_initializer=small), layers.Dense(1)])
net.layers[1].set_weights([np.full((8, 1), 0.1), np.zeros(1)])
times = tf.reshape(tf.linspace(0.0, 1.0, 5), (-1, 1))
optimizer = keras.optimizers.Adam(0.01)
for _ in range(3):
    with tf.GradientTape() as tape:
        with tf.GradientTape() as second:
            second.watch(times)
            with tf.GradientTape() as first:
                first.watch(times)
                u = net(times)
            slope = first.gradient(u, times)
        residual = second.gradient(slope, times) + u
        loss = tf.reduce_mean(tf.square(residual)) + tf.square(u[0, 0] - 1.0)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    print(float(loss))

# REINFORCE: log-probabilities of what was done, weighed by what came of it
policy = keras.Sequential([keras.Input((4,)), layers.Dense(2, kernel_initializer=small)])
states, actions = tf.constant(rng.normal(size=(5, 4)).astype("float32")), tf.constant([0, 1, 1, 0, 1])
returns = tf.constant([3.0, 2.0, 1.5, 1.0, 0.5])
returns = (returns - tf.math.reduce_mean(returns)) / (tf.math.reduce_std(returns) + 1e-8)
with tf.GradientTape() as tape:
    chosen = tf.gather_nd(tf.nn.softmax(policy(states)), tf.stack([tf.range(5), actions], axis=1))
    loss = -tf.reduce_sum(tf.math.log(chosen) * returns)
print(loss, tape.gradient(loss, policy.trainable_variables))


class Autoencoder(keras.Model):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.encoder = keras.Sequential([keras.Input((4,)), layers.Dense(4, kernel_initializer=small)])
        self.decoder = keras.Sequential([keras.Input((2,)), layers.Dense(4, "sigmoid", kernel_initializer=small)])
        self.total, self.divergence = keras.metrics.Mean(name="total"), keras.metrics.Mean(name="divergence")

    @property
    def metrics(self):
        return [self.total, self.divergence]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            mean, logarithm = tf.split(self.encoder(data), 2, axis=1)
            picture = self.decoder(mean + 0.5 * tf.exp(0.5 * logarithm))
            divergence = -0.5 * (1 + logarithm - tf.square(mean) - tf.exp(logarithm))
            divergence = tf.reduce_mean(tf.reduce_sum(divergence, axis=1))
            loss = tf.reduce_mean(keras.losses.BinaryCrossentropy()(data, picture)) + divergence
        gradients = tape.gradient(loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights))
        self.total.update_state(loss)
        self.divergence.update_state(divergence)
        return {metric.name: metric.result() for metric in self.metrics}


autoencoder = Autoencoder()
autoencoder.compile(optimizer=keras.optimizers.Adam())
print(autoencoder.fit(rng.random((8, 4)), epochs=2, batch_size=8, verbose=0).history)


class Block(layers.Layer):
    def __init__(self, width, heads):
        super().__init__()
        self.attention = layers.MultiHeadAttention(num_heads=heads, key_dim=width, kernel_initializer=small)
        self.between = layers.Dense(width, activation="relu", kernel_initializer=small)
        self.norms = [layers.LayerNormalization(epsilon=1e-6), layers.LayerNormalization(epsilon=1e-6)]
        self.dropout = layers.Dropout(0.1)

    def call(self, x, training=False):
        x = self.norms[0](x + self.dropout(self.attention(x, x), training=training))
        return self.norms[1](x + self.dropout(self.between(x), training=training))


class Places(layers.Layer):
    def __init__(self, length, words, width):
        super().__init__()
        self.words = layers.Embedding(words, width, embeddings_initializer=small)
        self.places = layers.Embedding(length, width, embeddings_initializer="ones")

    def call(self, x):
        return self.words(x) + self.places(tf.range(tf.shape(x)[-1]))


tokens = layers.Input(shape=(6,))
pooled = layers.GlobalAveragePooling1D()(Block(4, 2)(Places(6, 10, 4)(tokens)))
transformer = keras.Model(tokens, layers.Dense(2, activation="softmax", kernel_initializer=small)(pooled))
print(transformer(np.arange(12).reshape(2, 6) % 10), transformer.count_params())


def contrastive(same, distance):
    return K.mean(same * K.square(distance) + (1 - same) * K.square(K.maximum(1.0 - distance, 0.0)))


one, other = layers.Input((3,)), layers.Input((3,))
shared = layers.Dense(2, kernel_initializer=small)
apart = layers.Lambda(lambda pair: tf.norm(pair[0] - pair[1], axis=1, keepdims=True))([shared(one), shared(other)])
pairs = keras.Model([one, other], apart)
pairs.compile(loss=contrastive, optimizer="sgd")
print(pairs([tf.ones([1, 3]), tf.zeros([1, 3])]))
print(pairs.fit([np.ones((2, 3)), np.zeros((2, 3))], np.array([[1.0], [0.0]]), verbose=0).history)
