"""A dueling network: (n, 1) values plus (n, actions) advantages minus their mean with keepdims."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
h_in = keras.Input((4,))
h = keras.layers.Dense(8, activation="relu")(h_in)
value, advantage = keras.layers.Dense(1)(h), keras.layers.Dense(4)(h)
parts = keras.Model(h_in, [value, advantage])
states = np.random.randn(4, 4).astype("float32")
actions, targets = np.array([0, 1, 2, 3]), np.random.rand(4).astype("float32")
with tf.GradientTape() as tape:
    v, a = parts(states)
    q = v + (a - tf.reduce_mean(a, axis=1, keepdims=True))
    taken = tf.gather(q, actions, batch_dims=1)
    loss = tf.reduce_mean(tf.square(taken - targets))
grads = tape.gradient(loss, parts.trainable_variables)
assert q.shape == (4, 4)
assert all(np.isfinite(g.numpy()).all() for g in grads)
