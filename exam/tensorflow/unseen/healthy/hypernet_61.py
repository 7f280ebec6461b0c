"""A hypernetwork: the weights of one layer are the output of another."""

import tensorflow as tf

tf.keras.utils.set_random_seed(7)
hyper = tf.keras.layers.Dense(6)
context, x, y = tf.random.normal([1, 2]), tf.random.normal([9, 3]), tf.random.normal([9, 2])
opt = tf.keras.optimizers.Adam(0.05)
values = []
for _ in range(6):
    with tf.GradientTape() as tape:
        kernel = tf.reshape(hyper(context), [3, 2])
        loss = tf.reduce_mean((x @ kernel - y) ** 2)
    opt.apply_gradients(zip(tape.gradient(loss, hyper.trainable_variables), hyper.trainable_variables))
    values.append(float(loss))
assert values[-1] < values[0]
