"""Two loops at two places: the second begins when the first has run for long."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
body, head = keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)
x, y = tf.random.normal((20, 3)), tf.random.normal((20, 1))
decoder = keras.layers.Dense(3)
first, second = keras.optimizers.Adam(1e-2), keras.optimizers.Adam(1e-2)
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((decoder(body(x)) - x) ** 2)
    variables = body.trainable_variables + decoder.trainable_variables
    first.apply_gradients(zip(tape.gradient(loss, variables), variables))
for _ in range(20):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(tf.stop_gradient(body(x))) - y) ** 2)
    variables = head.trainable_variables
    second.apply_gradients(zip(tape.gradient(loss, variables), variables))
assert float(loss) < 5
