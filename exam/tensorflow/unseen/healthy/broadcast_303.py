"""The value of each state's own action, picked with batch_dims."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
network = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(4)])
states = tf.random.normal((32, 6))
actions = tf.random.uniform((32,), 0, 4, tf.int32)
targets = tf.random.normal((32,))
with tf.GradientTape() as tape:
    q = network(states)
    chosen = tf.gather(q, actions, batch_dims=1)
    loss = tf.reduce_mean((chosen - targets) ** 2)
grads = tape.gradient(loss, network.trainable_variables)
assert chosen.shape == (32,)
