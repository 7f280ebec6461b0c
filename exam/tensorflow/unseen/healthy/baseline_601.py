# REINFORCE with a baseline: rewards are plain numbers, and the baseline is a running mean
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(11)
preference = tf.Variable(tf.zeros(4), name="preference")
payoff = np.array([0.1, 0.5, 0.9, 0.3])
rng = np.random.default_rng(11)
baseline = 0.0
for episode in range(60):
    with tf.GradientTape() as tape:
        log_p = tf.nn.log_softmax(preference)
        arm = int(rng.choice(4, p=np.exp(log_p.numpy()) / np.exp(log_p.numpy()).sum()))
        reward = float(payoff[arm] + 0.1 * rng.normal())
        loss = -(reward - baseline) * log_p[arm]
    preference.assign_sub(0.5 * tape.gradient(loss, preference))
    baseline = 0.9 * baseline + 0.1 * reward
assert int(tf.argmax(preference)) in (1, 2)
