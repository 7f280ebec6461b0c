# expect: GT103 or GT101
# cause: the mean and variance of each example are taken without keepdims, and the batch has as many rows as features
# wrong: not np.allclose(np.mean(norm(x), axis=1), 0.0, atol=1e-4)
# cure: tf.reduce_mean(x, axis=-1) -> tf.reduce_mean(x, axis=-1, keepdims=True)
# cure: tf.math.reduce_variance(x, axis=-1) -> tf.math.reduce_variance(x, axis=-1, keepdims=True)
import numpy as np
import tensorflow as tf


class LayerNorm(tf.keras.layers.Layer):
    def build(self, shape):
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")
        self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros", name="shift")

    def call(self, x):
        mean = tf.reduce_mean(x, axis=-1)
        variance = tf.math.reduce_variance(x, axis=-1)
        return self.gain * (x - mean) / tf.sqrt(variance + 1e-5) + self.shift  # <- here


tf.keras.utils.set_random_seed(9)
x = tf.random.normal((16, 16)) * tf.random.uniform((16, 1), 0.5, 3.0) + tf.random.normal((16, 1))
y = tf.random.normal((16, 1))
norm, head = LayerNorm(), tf.keras.layers.Dense(1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((head(norm(x)) - y) ** 2)
gradients = tape.gradient(loss, norm.trainable_weights + head.trainable_weights)
