"""States and actions side by side."""

import tensorflow as tf

tf.keras.utils.set_random_seed(26)
critic = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])


def q_value(states, actions):
    return critic(tf.concat([states, actions], axis=1))


states, actions = tf.random.normal((8, 5)), tf.random.normal((8, 2))
with tf.GradientTape() as tape:
    loss = -tf.reduce_mean(q_value(states, actions))
grads = tape.gradient(loss, critic.trainable_variables)
assert len(grads) == 4
