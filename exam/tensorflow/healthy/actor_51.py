"""Actor-critic: the advantage is (n,) from squeezed values, and stopped for the actor."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
body = keras.layers.Dense(16, activation="relu")
actor, critic = keras.layers.Dense(2), keras.layers.Dense(1)
states = np.random.randn(20, 4).astype("float32")
actions = np.random.randint(0, 2, 20)
returns = np.random.rand(20).astype("float32")
with tf.GradientTape() as tape:
    h = body(states)
    logits, values = actor(h), tf.squeeze(critic(h), axis=1)
    advantage = returns - values
    log_p = tf.gather(tf.nn.log_softmax(logits), actions, batch_dims=1)
    entropy = -tf.reduce_sum(tf.nn.softmax(logits) * tf.nn.log_softmax(logits), axis=1)
    loss = tf.reduce_mean(-log_p * tf.stop_gradient(advantage) + 0.5 * advantage**2 - 0.01 * entropy)
variables = body.trainable_variables + actor.trainable_variables + critic.trainable_variables
grads = tape.gradient(loss, variables)
assert advantage.shape == (20,)
assert all(g is not None for g in grads)
