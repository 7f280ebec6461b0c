"""Zero biases and a zero last layer: the first layers have random weights, so all units differ."""

import tensorflow as tf

tf.keras.utils.set_random_seed(6)
body = tf.keras.layers.Dense(6, activation="tanh")
head = tf.keras.layers.Dense(1, kernel_initializer="zeros")
x = tf.random.normal([10, 3])
opt = tf.keras.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(body(x)) - x[:, :1]) ** 2)
    variables = body.trainable_variables + head.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert float(tf.reduce_sum(tf.abs(head.kernel))) > 0
