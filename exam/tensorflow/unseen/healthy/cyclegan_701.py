# one persistent tape for three networks and three optimisers
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)


def net(outputs):
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(outputs)])


g, f, d = net(3), net(3), net(1)
optimizers = [tf.keras.optimizers.Adam(1e-3) for _ in range(3)]
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
for _ in range(3):
    a, b = tf.random.normal((12, 3)), tf.random.normal((12, 3), 1.0)
    with tf.GradientTape(persistent=True) as tape:
        fake = g(a)
        cycle = tf.reduce_mean(tf.abs(f(fake) - a))
        real_score, fake_score = d(b), d(fake)
        g_loss = bce(tf.ones_like(fake_score), fake_score) + 10.0 * cycle
        d_loss = bce(tf.ones_like(real_score), real_score) + bce(tf.zeros_like(fake_score), fake_score)
    pairs = ((g_loss, g), (10.0 * cycle if False else g_loss, f), (d_loss, d))
    for (loss, network), optimizer in zip(pairs, optimizers):
        optimizer.apply_gradients(zip(tape.gradient(loss, network.trainable_variables), network.trainable_variables))
    del tape
assert np.isfinite(float(g_loss) + float(d_loss))
