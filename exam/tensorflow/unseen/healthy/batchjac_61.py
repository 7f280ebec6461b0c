"""A contractive autoencoder: the batch Jacobian of the code by the input."""

import tensorflow as tf

tf.keras.utils.set_random_seed(8)
encode, decode = tf.keras.layers.Dense(2, activation="sigmoid"), tf.keras.layers.Dense(3)
x = tf.random.normal([5, 3])
with tf.GradientTape() as tape:
    with tf.GradientTape() as inner:
        inner.watch(x)
        code = encode(x)
    jacobian = inner.batch_jacobian(code, x)
    loss = tf.reduce_mean((decode(code) - x) ** 2) + 0.1 * tf.reduce_mean(jacobian**2)
grads = tape.gradient(loss, encode.trainable_variables + decode.trainable_variables)
assert all(g is not None for g in grads)
