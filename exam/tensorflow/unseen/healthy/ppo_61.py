"""PPO: the ratio is clipped, old probabilities are data, and the advantage is normalised."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(6)
rng = np.random.default_rng(0)
states = rng.normal(size=(20, 4)).astype("float32")
actions = rng.integers(0, 2, 20)
policy = tf.keras.layers.Dense(2)
old = tf.nn.log_softmax(policy(states)).numpy()[np.arange(20), actions]
advantage = rng.normal(size=20).astype("float32")
advantage = (advantage - advantage.mean()) / advantage.std()
opt = tf.keras.optimizers.Adam(0.02)
for _ in range(3):
    with tf.GradientTape() as tape:
        logp = tf.gather(tf.nn.log_softmax(policy(states)), actions, batch_dims=1)
        ratio = tf.exp(logp - old)
        clipped = tf.clip_by_value(ratio, 0.8, 1.2)
        loss = -tf.reduce_mean(tf.minimum(ratio * advantage, clipped * advantage))
    grads = tape.gradient(loss, policy.trainable_variables)
    opt.apply_gradients(zip(grads, policy.trainable_variables))
assert np.isfinite(float(loss))
