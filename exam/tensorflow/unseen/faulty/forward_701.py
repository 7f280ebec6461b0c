# expect: GT401 or GT402 or GT506
# cause: the pixels run to 255, the log-variance is in the hundreds, and its exponential overflows
# wrong: not np.isfinite(float(loss))
# cure: np.random.randint(0, 256, (24, 30)), tf.float32) -> np.random.randint(0, 256, (24, 30)) / 255.0, tf.float32)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(6)
pixels = tf.constant(np.random.randint(0, 256, (24, 30)), tf.float32)
encoder = keras.Sequential([keras.Input((30,)), keras.layers.Dense(20, activation="relu"), keras.layers.Dense(4)])
decoder = keras.Sequential([keras.Input((2,)), keras.layers.Dense(20, activation="relu"), keras.layers.Dense(30)])
optimizer = keras.optimizers.Adam(1e-3)


def elbo(x):
    mean, log_variance = tf.split(encoder(x), 2, axis=1)
    spread = tf.exp(log_variance)  # <- here
    code = mean + tf.sqrt(spread) * tf.random.normal(tf.shape(mean))
    divergence = -0.5 * tf.reduce_sum(1.0 + log_variance - mean**2 - spread, axis=1)
    return tf.reduce_mean(tf.reduce_sum((decoder(code) - x) ** 2, axis=1) + divergence)


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = elbo(pixels)
    variables = encoder.trainable_variables + decoder.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- asked
