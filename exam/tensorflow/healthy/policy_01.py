"""REINFORCE: returns and sampled actions are constants, log-probabilities carry the gradient."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
policy = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense(3)])
states = np.random.randn(25, 4).astype("float32")
rewards = np.random.rand(25).astype("float32")
returns = np.cumsum(rewards[::-1])[::-1].copy()
returns = (returns - returns.mean()) / (returns.std() + 1e-8)
opt = keras.optimizers.Adam(0.01)
with tf.GradientTape() as tape:
    logits = policy(states)
    actions = tf.squeeze(tf.random.categorical(logits, 1, seed=1), axis=1)
    log_p = tf.reduce_sum(tf.nn.log_softmax(logits) * tf.one_hot(actions, 3), axis=1)
    loss = -tf.reduce_mean(log_p * returns)
grads = tape.gradient(loss, policy.trainable_variables)
opt.apply_gradients(zip(grads, policy.trainable_variables))
assert all(np.any(g.numpy()) for g in grads)
