import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(84)
generator = keras.Sequential([keras.Input((4,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(3)])
discriminator = keras.Sequential([keras.Input((3,)), keras.layers.Dense(12, "relu"), keras.layers.Dense(1)])
d_optimizer, g_optimizer = keras.optimizers.Adam(2e-4), keras.optimizers.Adam(2e-4)
bce = keras.losses.BinaryCrossentropy(from_logits=True)
real = tf.constant(np.random.randn(16, 3), tf.float32)

for _ in range(2):
    noise = tf.random.normal((16, 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        fake = generator(noise)
        real_scores, fake_scores = discriminator(real), discriminator(fake)
        d_loss = bce(tf.ones_like(real_scores), real_scores) + bce(tf.zeros_like(fake_scores), fake_scores)
        g_loss = bce(tf.ones_like(fake_scores), fake_scores)
    d_gradients = d_tape.gradient(d_loss, discriminator.trainable_variables)
    g_gradients = g_tape.gradient(g_loss, generator.trainable_variables)
    d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
    g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
assert True
