# expect: GT308
# cause: two gradients are taken from a tape that is not persistent
# wrong: raises RuntimeError
# cure: tf.GradientTape() as tape -> tf.GradientTape(persistent=True) as tape
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
noise = tf.random.normal((8, 4))
real = tf.random.normal((8, 6), mean=2.0)
generator = keras.Sequential([keras.layers.Dense(6)])
discriminator = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
bce = keras.losses.BinaryCrossentropy(from_logits=True)
g_opt, d_opt = keras.optimizers.Adam(1e-3), keras.optimizers.Adam(1e-3)

with tf.GradientTape() as tape:  # <- here
    fake = generator(noise)
    real_score, fake_score = discriminator(real), discriminator(fake)
    g_loss = bce(tf.ones_like(fake_score), fake_score)
    d_loss = bce(tf.ones_like(real_score), real_score) + bce(tf.zeros_like(fake_score), fake_score)
d_grads = tape.gradient(d_loss, discriminator.trainable_variables)
g_grads = tape.gradient(g_loss, generator.trainable_variables)  # <- here
d_opt.apply_gradients(zip(d_grads, discriminator.trainable_variables))
g_opt.apply_gradients(zip(g_grads, generator.trainable_variables))
