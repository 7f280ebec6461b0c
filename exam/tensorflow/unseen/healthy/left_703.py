import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(61)
x = np.random.randn(30, 3).astype("float32")
y = (x[:, :1] - x[:, 1:2]).astype("float32")
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(8, "relu"), keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
before = model.get_weights()[0]

for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(keras.losses.mse(y, model(x)))
    gradients = tape.gradient(loss, model.trainable_variables)
    known = [(g, v) for g, v in zip(gradients, model.trainable_variables) if g is not None]
    if known:
        model.optimizer.apply_gradients(known)
assert not (not np.any(before != model.get_weights()[0]))
