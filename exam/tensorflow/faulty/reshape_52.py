# expect: GT114
# cause: the heads are split with the wrong number: 30 features are no multiple of 4 heads of 8
# wrong: raises InvalidArgumentError
# cure: layers.Dense(30) -> layers.Dense(32)
import tensorflow as tf
from tensorflow.keras import layers


class MultiHead(layers.Layer):
    def __init__(self, heads=4, depth=8):
        super().__init__()
        self.heads, self.depth = heads, depth
        self.project = layers.Dense(30)  # <- here

    def call(self, x):
        batch, length = tf.shape(x)[0], tf.shape(x)[1]
        h = tf.reshape(self.project(x), (batch, length, self.heads, self.depth))  # <- here
        return tf.transpose(h, [0, 2, 1, 3])


layer = MultiHead()
tokens = tf.ones((2, 5, 12))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(layer(tokens) ** 2)  # <- asked
grads = tape.gradient(loss, layer.trainable_weights)
