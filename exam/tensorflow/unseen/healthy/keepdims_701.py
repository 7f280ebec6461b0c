import numpy as np
import tensorflow as tf


class LayerNorm(tf.keras.layers.Layer):
    def build(self, shape):
        self.gain = self.add_weight(shape=(shape[-1],), initializer="ones", name="gain")
        self.shift = self.add_weight(shape=(shape[-1],), initializer="zeros", name="shift")

    def call(self, x):
        mean = tf.reduce_mean(x, axis=-1, keepdims=True)
        variance = tf.math.reduce_variance(x, axis=-1, keepdims=True)
        return self.gain * (x - mean) / tf.sqrt(variance + 1e-5) + self.shift


tf.keras.utils.set_random_seed(9)
x = tf.random.normal((16, 16)) * tf.random.uniform((16, 1), 0.5, 3.0) + tf.random.normal((16, 1))
y = tf.random.normal((16, 1))
norm, head = LayerNorm(), tf.keras.layers.Dense(1)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((head(norm(x)) - y) ** 2)
gradients = tape.gradient(loss, norm.trainable_weights + head.trainable_weights)
assert not (not np.allclose(np.mean(norm(x), axis=1), 0.0, atol=1e-4))
