# expect: GT201 because GT210
# cause: np.random.normal draws the code as an array, so that nothing leads to the encoder
# wrong: gradients[0] is None
# cure: np.random.normal(mean, np.exp(0.5 * log_variance)).astype("float32") -> mean + tf.exp(0.5 * log_variance) * tf.random.normal(mean.shape)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(10)
digits = tf.constant(np.random.rand(16, 20), tf.float32)
encoder = keras.Sequential([keras.Input((20,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(6)])
decoder = keras.Sequential([keras.Input((3,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(20)])


def sample(mean, log_variance):
    return np.random.normal(mean, np.exp(0.5 * log_variance)).astype("float32")  # <- here


with tf.GradientTape() as tape:
    mean, log_variance = tf.split(encoder(digits), 2, axis=1)
    code = sample(mean, log_variance)
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=digits, logits=decoder(code))
    loss = tf.reduce_mean(tf.reduce_sum(losses, axis=1))
gradients = tape.gradient(loss, encoder.trainable_variables)  # <- asked
