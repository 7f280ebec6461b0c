"""The gradient of a score by the input, which is watched."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
model = tf.keras.Sequential([tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(3)])
x = tf.random.normal((4, 5))
with tf.GradientTape(watch_accessed_variables=False) as tape:
    tape.watch(x)
    score = tf.reduce_sum(tf.reduce_max(model(x), axis=1))
g = tape.gradient(score, x)
assert g.shape == (4, 5)
