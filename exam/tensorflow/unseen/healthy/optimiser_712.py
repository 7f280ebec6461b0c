import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
encoder = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(3, "tanh")])
decoder = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(6)])
enc_opt, dec_opt = tf.keras.optimizers.SGD(0.05), tf.keras.optimizers.SGD(0.05)
before = encoder.get_weights()[0]
x = tf.random.normal((20, 6))
for _ in range(3):
    with tf.GradientTape(persistent=True) as tape:
        code = encoder(x)
        dec_loss = tf.reduce_mean((decoder(code) - x) ** 2)
        enc_loss = dec_loss + 0.01 * tf.reduce_mean(code**2)
    g_dec = tape.gradient(dec_loss, decoder.trainable_variables)
    g_enc = tape.gradient(enc_loss, encoder.trainable_variables)
    dec_opt.apply_gradients(zip(g_dec, decoder.trainable_variables))
    enc_opt.apply_gradients(zip(g_enc, encoder.trainable_variables))
assert not (np.array_equal(before, encoder.get_weights()[0]))
