import random

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)


def make_net():
    return tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(24, "tanh"), tf.keras.layers.Dense(3)])


online, target = make_net(), make_net()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)
memory = [
    (np.random.randn(4), np.random.randint(3), np.random.rand(), np.random.randn(4), float(np.random.rand() < 0.1))
    for _ in range(200)
]

for _ in range(3):
    states, actions, rewards, nexts, dones = [], [], [], [], []
    for state, action, reward, following, done in random.sample(memory, 32):
        states.append(state)
        actions.append(action)
        rewards.append(reward)
        nexts.append(following)
        dones.append(done)
    best = tf.reduce_max(target(tf.constant(nexts, tf.float32)), axis=1)
    targets = tf.constant(rewards, tf.float32) + 0.99 * (1.0 - tf.constant(dones, tf.float32)) * best
    with tf.GradientTape() as tape:
        q = online(tf.constant(states, tf.float32))
        chosen = tf.reduce_sum(q * tf.one_hot(actions, 3), axis=1)
        loss = tf.reduce_mean(tf.square(targets - chosen))
    gradients = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(gradients, online.trainable_variables))
assert not (tuple(targets.shape) != (32,))
