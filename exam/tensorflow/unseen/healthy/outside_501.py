"""The generator runs under the tape."""

import tensorflow as tf

tf.keras.utils.set_random_seed(9)
generator = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def train_generator(noise):
    with tf.GradientTape() as tape:
        scores = critic(generator(noise))
        loss = bce(tf.ones_like(scores), scores)
    grads = tape.gradient(loss, generator.trainable_variables)
    optimizer.apply_gradients(zip(grads, generator.trainable_variables))
    return loss


for _ in range(2):
    final = train_generator(tf.random.normal((8, 3)))
assert float(final) > 0
