# expect: GT111 or GT116 or GT110
# cause: the kernel is built (units, inputs), and the product of inputs with it needs (inputs, units)
# wrong: raises Exception
# cure: shape=(self.units, input_shape[-1]) -> shape=(input_shape[-1], self.units)
import tensorflow as tf
from tensorflow import keras


class NoisyDense(keras.layers.Layer):
    """A dense layer whose weights are disturbed while it is trained."""

    def __init__(self, units, sigma=0.05, **kwargs):
        super().__init__(**kwargs)
        self.units, self.sigma = units, sigma

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(self.units, input_shape[-1]), initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros", name="bias")

    def call(self, inputs, training=False):
        kernel = self.kernel
        if training:
            kernel = kernel + self.sigma * tf.random.normal(self.kernel.shape)
        return tf.matmul(inputs, kernel) + self.bias  # <- here


keras.utils.set_random_seed(0)
first, second = NoisyDense(6), NoisyDense(3)
batch = tf.random.normal((4, 10))
out = second(tf.nn.relu(first(batch, training=True)))  # <- asked
