# expect: GT308
# cause: the tape is asked twice, and it is not persistent
# wrong: raises RuntimeError
# cure: with tf.GradientTape() as tape: -> with tf.GradientTape(persistent=True) as tape:
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
generator, critic = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
noise, real = tf.random.normal((8, 3)), tf.random.normal((8, 2))
with tf.GradientTape() as tape:  # <- here
    fake = generator(noise)
    critic_loss = tf.reduce_mean(critic(fake)) - tf.reduce_mean(critic(real))
    generator_loss = -tf.reduce_mean(critic(fake))
critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
generator_grads = tape.gradient(generator_loss, generator.trainable_variables)  # <- here
