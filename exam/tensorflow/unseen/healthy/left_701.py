import keras
import numpy as np
import tensorflow as tf
from keras import ops

keras.utils.set_random_seed(13)
windows = np.random.randn(20, 12, 1).astype("float32")
future = windows[:, -3:, 0].cumsum(axis=1)
model = keras.Sequential([keras.Input((12, 1)), keras.layers.LSTM(6), keras.layers.Dense(3)])
optimizer = keras.optimizers.Adam(0.01)


def smooth_loss(truth, predicted):
    error = ops.mean(ops.square(truth - predicted))
    return error + 0.1 * ops.mean(ops.square(predicted[:, 1:] - predicted[:, :-1]))


with tf.GradientTape() as tape:
    predicted = model(windows)
    loss = smooth_loss(future, predicted)
gradients = tape.gradient(loss, model.trainable_variables)
assert gradients[0] is not None
