"""Two optimisers for two parts of one model, with one tape."""

import tensorflow as tf

tf.keras.utils.set_random_seed(12)
body, head = tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)
slow, fast = tf.keras.optimizers.SGD(1e-3), tf.keras.optimizers.Adam(1e-2)
x = tf.random.normal([10, 3])
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((head(body(x)) - x[:, :1]) ** 2)
    ours, theirs = tape.gradient(loss, [body.trainable_variables, head.trainable_variables])
    slow.apply_gradients(zip(ours, body.trainable_variables))
    fast.apply_gradients(zip(theirs, head.trainable_variables))
assert float(loss) >= 0
