# expect: GT111 or GT110
# cause: the keys are not transposed in the attention scores
# wrong: raises InvalidArgumentError
# cure: tf.matmul(q, k) -> tf.matmul(q, k, transpose_b=True)
import tensorflow as tf


class Attention(tf.keras.layers.Layer):
    def __init__(self, size):
        super().__init__()
        self.q, self.k, self.v = (tf.keras.layers.Dense(size) for _ in range(3))

    def call(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        weights = tf.nn.softmax(tf.matmul(q, k) / 2.0)  # <- here
        return tf.matmul(weights, v)


tf.keras.utils.set_random_seed(24)
layer = Attention(4)
tokens = tf.random.normal((2, 6, 8))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(layer(tokens) ** 2)
grads = tape.gradient(loss, layer.trainable_variables)
