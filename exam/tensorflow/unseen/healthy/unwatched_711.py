import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)
surrogate = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])
inputs = np.random.randn(9, 4).astype("float32")
x = tf.constant(inputs)
with tf.GradientTape() as tape:
    tape.watch(x)
    output = surrogate(x)
sensitivity = tape.gradient(output, x)
assert sensitivity is not None
