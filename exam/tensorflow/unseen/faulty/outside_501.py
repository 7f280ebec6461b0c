# expect: GT201 because GT211
# cause: the discriminator's scores are computed before the tape starts to record
# wrong: raises ValueError
# cure: scores = critic(generator(noise))  # <- here\n    with tf.GradientTape() as tape:\n -> with tf.GradientTape() as tape:\n        scores = critic(generator(noise))\n
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
generator = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


def train_generator(noise):
    scores = critic(generator(noise))  # <- here
    with tf.GradientTape() as tape:
        loss = bce(tf.ones_like(scores), scores)
    grads = tape.gradient(loss, generator.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, generator.trainable_variables))  # <- asked
    return loss


for _ in range(2):
    final = train_generator(tf.random.normal((8, 3)))
