import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(71)
actor = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(2)])


def play(steps):
    state, log_probabilities, rewards = np.array([0.2, -0.1], dtype="float32"), [], []
    for _ in range(steps):
        log_policy = tf.nn.log_softmax(actor(state[None, :]))[0]
        action = int(tf.random.categorical(log_policy[None, :], 1)[0, 0])
        log_probabilities.append(log_policy[action])
        state = state + np.array([0.1, 0.1 if action else -0.1], dtype="float32")
        rewards.append(-float(np.abs(state).sum()))
    return log_probabilities, rewards


with tf.GradientTape() as tape:
    log_probabilities, rewards = play(8)
    loss = -tf.reduce_sum(tf.stack(log_probabilities) * (np.cumsum(rewards[::-1])[::-1] / 10).astype("float32"))
gradients = tape.gradient(loss, actor.trainable_variables)
assert not (all(g is None for g in gradients))
