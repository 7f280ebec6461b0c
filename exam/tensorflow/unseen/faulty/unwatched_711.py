# expect: GT201 because GT202 or GT203
# cause: the watched tensor is a copy; the network is given the array
# wrong: sensitivity is None
# cure: surrogate(inputs) -> surrogate(x)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)
surrogate = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(1)])
inputs = np.random.randn(9, 4).astype("float32")
x = tf.constant(inputs)
with tf.GradientTape() as tape:
    tape.watch(x)
    output = surrogate(inputs)  # <- here
sensitivity = tape.gradient(output, x)  # <- asked
