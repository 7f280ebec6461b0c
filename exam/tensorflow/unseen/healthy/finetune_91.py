"""A frozen base under a new head, trained with fit."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
base = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(10, "relu")])
base.trainable = False
model = tf.keras.Sequential([base, tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
x = np.random.rand(24, 6).astype("float32")
model.fit(x, x.sum(axis=1, keepdims=True), epochs=2, verbose=0)
assert len(model.trainable_variables) == 2
