# expect: GT111
# cause: keys are not transposed before queries are multiplied with them
# wrong: raises InvalidArgumentError
# cure: tf.matmul(q, k) -> tf.matmul(q, k, transpose_b=True)
import tensorflow as tf
from tensorflow import keras


class SelfAttention(keras.layers.Layer):
    def __init__(self, dim):
        super().__init__()
        self.query = keras.layers.Dense(dim, use_bias=False)
        self.key = keras.layers.Dense(dim, use_bias=False)
        self.value = keras.layers.Dense(dim, use_bias=False)
        self.scale = dim**-0.5

    def call(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = tf.matmul(q, k) * self.scale  # <- here
        return tf.matmul(tf.nn.softmax(scores, axis=-1), v)


keras.utils.set_random_seed(0)
sentences = tf.random.normal((4, 10, 16))
layer = SelfAttention(24)
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(layer(sentences) ** 2)  # <- asked
print([g.shape for g in tape.gradient(loss, layer.trainable_weights)])
