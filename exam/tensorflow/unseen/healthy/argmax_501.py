"""The expectation of the reward; the greedy action is used to act only."""

import tensorflow as tf

tf.keras.utils.set_random_seed(11)
policy = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)])
payoff = tf.constant([0.0, 1.0, 0.5])
optimizer = tf.keras.optimizers.Adam(1e-2)
states = tf.random.normal((14, 4))


def expected_reward(states):
    probabilities = tf.nn.softmax(policy(states))
    return tf.reduce_mean(tf.linalg.matvec(probabilities, payoff))


for _ in range(2):
    with tf.GradientTape() as tape:
        loss = -expected_reward(states)
    grads = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(grads, policy.trainable_variables))
action = tf.argmax(policy(states), axis=1)
assert action.shape == (14,)
assert float(loss) < 0
