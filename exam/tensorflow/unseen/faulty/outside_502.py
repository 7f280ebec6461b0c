# expect: GT201 because GT211
# cause: the loss is computed after the block of the tape has ended
# wrong: raises ValueError
# cure: decoder(code)\n        loss = -> decoder(code)\n            loss =
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
        loss = tf.reduce_mean(tf.square(reconstruction - x))  # <- here
        variables = encoder.trainable_variables + decoder.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- asked
        return loss


trainer = Autoencoder()
for _ in range(2):
    loss = trainer.step(batch)
