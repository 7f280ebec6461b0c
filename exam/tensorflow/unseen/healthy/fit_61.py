"""fit of a functional model on a tf.data pipeline with sample weights and a schedule."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
x = np.random.rand(60, 3).astype("float32")
y = x.sum(axis=1, keepdims=True)
weights = np.where(x[:, :1] > 0.5, 2.0, 1.0)[:, 0]
data = tf.data.Dataset.from_tensor_slices((x, y, weights)).batch(20)
inputs = tf.keras.Input((3,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(tf.keras.layers.Dense(6, activation="swish")(inputs)))
rate = tf.keras.optimizers.schedules.ExponentialDecay(0.05, 10, 0.9)
model.compile(tf.keras.optimizers.Adam(rate), "huber")
history = model.fit(data, epochs=4, verbose=0)
assert history.history["loss"][-1] < history.history["loss"][0]
