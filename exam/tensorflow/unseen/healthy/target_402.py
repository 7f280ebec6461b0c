"""The penalty of a model whose layer has a regulariser."""

import keras
import tensorflow as tf

keras.utils.set_random_seed(0)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_regularizer="l2")])
x = tf.random.normal((16, 3))
with tf.GradientTape() as tape:
    model(x)
    penalty = sum(model.losses)
grads = tape.gradient(penalty, model.trainable_variables)
assert grads[0] is not None
