import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(4)
x = np.random.randn(16, 2).astype("float32")
y = x[:, :1] * 2.0
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile(loss="mse")
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((model(x) - y) ** 2)
gradients = tape.gradient(loss, model.trainable_variables)
assert not (all(g is None for g in gradients))
