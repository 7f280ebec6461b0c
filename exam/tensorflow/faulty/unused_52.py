# expect: GT201 because GT202
# cause: the generator's step asks for the gradients of the discriminator's loss
# wrong: raises ValueError
# cure: g_tape.gradient(d_loss, -> g_tape.gradient(g_loss,
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
generator = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(2)])
discriminator = keras.Sequential([keras.layers.Dense(4, activation="relu"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam()
real = tf.random.normal((16, 2))

with tf.GradientTape() as g_tape:
    fake = generator(tf.random.normal((16, 3)))
    g_loss = -tf.reduce_mean(discriminator(fake))
    d_loss = tf.reduce_mean(tf.nn.softplus(-discriminator(real)))  # <- here
grads = g_tape.gradient(d_loss, generator.trainable_variables)  # <- here
opt.apply_gradients(zip(grads, generator.trainable_variables))  # <- asked
