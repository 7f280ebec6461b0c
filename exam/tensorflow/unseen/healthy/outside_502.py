"""The loss is computed under the tape."""

import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(10)
encoder, decoder = layers.Dense(3, activation="tanh"), layers.Dense(8)
optimizer = tf.keras.optimizers.Adam(0.01)
batch = tf.random.normal((16, 8))


class Autoencoder:
    def step(self, x):
        with tf.GradientTape() as tape:
            code = encoder(x)
            reconstruction = decoder(code)
            loss = tf.reduce_mean(tf.square(reconstruction - x))
        variables = encoder.trainable_variables + decoder.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


trainer = Autoencoder()
for _ in range(2):
    loss = trainer.step(batch)
assert float(loss) > 0
