# expect: GT513
# cause: the generator's step takes gradients for the discriminator and applies them to it; the generator never changes
# wrong: np.array_equal(before, generator.get_weights()[0])
# cure: g_gradients = tape.gradient(g_loss, discriminator.trainable_variables) -> g_gradients = tape.gradient(g_loss, generator.trainable_variables)
# cure: g_optimizer.apply_gradients(zip(g_gradients, discriminator.trainable_variables)) -> g_optimizer.apply_gradients(zip(g_gradients, generator.trainable_variables))
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(65)
generator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.Input((2,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
g_optimizer, d_optimizer = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)
before = generator.get_weights()[0]


def score_loss(scores, real):
    labels = tf.ones_like(scores) if real else tf.zeros_like(scores)
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=scores))


for step in range(4):
    real, noise = tf.random.normal((20, 2), 3.0), tf.random.normal((20, 2))
    with tf.GradientTape() as tape:
        fake = generator(noise)
        d_loss = score_loss(discriminator(real), True) + score_loss(discriminator(fake), False)
    d_gradients = tape.gradient(d_loss, discriminator.trainable_variables)
    d_optimizer.apply_gradients(zip(d_gradients, discriminator.trainable_variables))
    with tf.GradientTape() as tape:
        g_loss = score_loss(discriminator(generator(noise)), True)  # <- here
    g_gradients = tape.gradient(g_loss, discriminator.trainable_variables)  # <- here
    g_optimizer.apply_gradients(zip(g_gradients, discriminator.trainable_variables))  # <- here
