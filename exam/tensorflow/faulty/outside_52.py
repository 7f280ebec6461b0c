# expect: GT201 because GT211
# cause: the regularisation and the loss are computed after the with block
# wrong: all(g is None for g in grads)
# cure: \nloss = data_loss(pred) -> \n    loss = data_loss(pred)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
x, y = np.random.rand(30, 4).astype("float32"), np.random.rand(30, 1).astype("float32")
model = keras.Sequential([keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])


def data_loss(pred):
    return tf.reduce_mean(keras.losses.huber(y, pred))


with tf.GradientTape() as tape:
    pred = model(x, training=True)
loss = data_loss(pred)  # <- here
grads = tape.gradient(loss, model.trainable_variables)  # <- asked
print(grads)
