import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(17)
generator = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(16, "relu"), layers.Dense(2)])
discriminator = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(16, "relu"), layers.Dense(1)])
g_optimizer, d_optimizer = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def train_step(real):
    noise = tf.random.normal((real.shape[0], 4))
    with tf.GradientTape() as g_tape, tf.GradientTape() as d_tape:
        images = generator(noise)
        on_real, on_fake = discriminator(real), discriminator(images)
        g_loss = bce(tf.ones_like(on_fake), on_fake)
        d_loss = bce(tf.ones_like(on_real), on_real) + bce(tf.zeros_like(on_fake), on_fake)
    g_grads = g_tape.gradient(g_loss, generator.trainable_variables)
    d_grads = d_tape.gradient(d_loss, discriminator.trainable_variables)
    d_optimizer.apply_gradients(zip(d_grads, discriminator.trainable_variables))
    if g_grads[0] is not None:
        g_optimizer.apply_gradients(zip(g_grads, generator.trainable_variables))
    return g_grads


for _ in range(3):
    g_grads = train_step(tf.random.normal((16, 2)) * 0.2 + 1.0)
assert not (all(g is None for g in g_grads))
