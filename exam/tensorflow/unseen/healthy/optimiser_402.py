"""One variable, a tape and an optimizer of Keras 3."""

import keras
import tensorflow as tf

x = tf.Variable(4.0)
optimizer = keras.optimizers.SGD(0.1)


def objective():
    return (x - 1.0) ** 2


for _ in range(10):
    with tf.GradientTape() as tape:
        value = objective()
    optimizer.apply_gradients([(tape.gradient(value, x), x)])
assert x.numpy() != 4.0
