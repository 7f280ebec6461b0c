# WGAN with a gradient penalty: tapes within tapes, and the norm of gradients
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(16)
critic = tf.keras.Sequential([tf.keras.Input((2,)), layers.Dense(16, "tanh"), layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01, beta_1=0.0)


@tf.function
def critic_step(real, fake):
    share = tf.random.uniform((real.shape[0], 1))
    mixed = share * real + (1.0 - share) * fake
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            inner.watch(mixed)
            scores = critic(mixed)
        slopes = inner.gradient(scores, mixed)
        penalty = tf.reduce_mean((tf.sqrt(tf.reduce_sum(slopes**2, axis=1) + 1e-12) - 1.0) ** 2)
        loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real)) + 10.0 * penalty
    optimizer.apply_gradients(zip(tape.gradient(loss, critic.trainable_variables), critic.trainable_variables))
    return loss


losses = [float(critic_step(tf.random.normal((16, 2)) + 1.0, tf.random.normal((16, 2)))) for _ in range(10)]
assert losses[-1] < losses[0]
