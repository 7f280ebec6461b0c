# expect: GT308
# cause: the tape is not persistent and is asked for the gradients of two networks, one after the other
# wrong: raises RuntimeError
# cure: tf.GradientTape() as tape -> tf.GradientTape(persistent=True) as tape
import tensorflow as tf

tf.keras.utils.set_random_seed(30)
gen, disc = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
g_opt, d_opt = tf.keras.optimizers.Adam(1e-3), tf.keras.optimizers.Adam(1e-3)
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train_step(real):
    with tf.GradientTape() as tape:  # <- here
        fake = disc(gen(tf.random.normal((8, 3))))
        genuine = disc(real)
        d_loss = bce(tf.ones_like(genuine), genuine) + bce(tf.zeros_like(fake), fake)
        g_loss = bce(tf.ones_like(fake), fake)
    d_grads = tape.gradient(d_loss, disc.trainable_variables)
    g_grads = tape.gradient(g_loss, gen.trainable_variables)  # <- here
    d_opt.apply_gradients(zip(d_grads, disc.trainable_variables))
    g_opt.apply_gradients(zip(g_grads, gen.trainable_variables))
    return g_loss


for _ in range(2):
    last = train_step(tf.random.normal((8, 2)))
