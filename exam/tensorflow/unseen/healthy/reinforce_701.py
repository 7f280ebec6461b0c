# policy gradient: sampled actions, returns by NumPy, a baseline, log-probabilities of the chosen actions
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(9)
rng = np.random.default_rng(9)
policy = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(2)])
optimizer = tf.keras.optimizers.Adam(0.01)
for episode in range(3):
    states, actions, rewards, state = [], [], [], rng.normal(size=2)
    for _ in range(10):
        logits = policy(state[None].astype("float32"))
        action = int(tf.random.categorical(logits, 1)[0, 0])
        states.append(state)
        actions.append(action)
        state = state + np.array([0.1, 0.2 * action - 0.1])
        rewards.append(-np.abs(state).sum())
    returns = np.cumsum(rewards[::-1])[::-1]
    advantage = ((returns - returns.mean()) / (returns.std() + 1e-8)).astype("float32")
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(policy(np.array(states, dtype="float32")))
        chosen = tf.reduce_sum(log_p * tf.one_hot(actions, 2), axis=1)
        entropy = -tf.reduce_mean(tf.reduce_sum(tf.exp(log_p) * log_p, axis=1))
        loss = -tf.reduce_mean(chosen * advantage) - 0.01 * entropy
    optimizer.apply_gradients(zip(tape.gradient(loss, policy.trainable_variables), policy.trainable_variables))
assert np.isfinite(float(loss))
