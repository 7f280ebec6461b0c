# expect: GT117
# cause: the loss of each example is averaged over axis 2 of an array with two axes
# wrong: raises InvalidArgumentError
# cure: axis=2 -> axis=1
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
frames = np.random.rand(10, 12).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(12)])


def reconstruction_error(x):
    squared = tf.square(model(x) - x)
    return tf.reduce_mean(squared, axis=2)  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(reconstruction_error(frames))  # <- asked
grads = tape.gradient(loss, model.trainable_variables)
