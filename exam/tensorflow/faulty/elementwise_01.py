# expect: GT110
# cause: the skip connection adds 32 features to the 64 that the Dense layer makes
# wrong: raises InvalidArgumentError
# cure: Dense(64, activation="relu") -> Dense(32, activation="relu")
import numpy as np
import tensorflow as tf


class ResidualBlock(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.fc = tf.keras.layers.Dense(64, activation="relu")  # <- here

    def call(self, x):
        return x + self.fc(x)  # <- here


tf.keras.utils.set_random_seed(0)
batch = tf.constant(np.random.rand(10, 32), dtype=tf.float32)
block = ResidualBlock()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(block(batch) ** 2)  # <- asked
grads = tape.gradient(loss, block.trainable_variables)
