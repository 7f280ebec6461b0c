# expect: GT201 because GT210
# cause: the logarithm of the probability is taken with NumPy, which gives a number without a history
# wrong: all(g is None for g in grads)
# cure: np.log(probabilities[0, action]) -> tf.math.log(probabilities[0, action])
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
random = np.random.default_rng(0)
policy = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="tanh"), tf.keras.layers.Dense(2, "softmax")])
state = random.normal(size=4)
log_probabilities, rewards = [], []
with tf.GradientTape() as tape:
    for _ in range(10):
        probabilities = policy(state[None, :].astype("float32"))
        action = random.choice(2, p=probabilities.numpy()[0].astype(float) / probabilities.numpy()[0].sum(dtype=float))
        log_probabilities.append(np.log(probabilities[0, action]))  # <- here
        rewards.append(float(action == (state[0] > 0)))
        state = random.normal(size=4)
    returns = tf.constant(np.cumsum(rewards[::-1])[::-1].copy(), tf.float32)
    loss = -tf.reduce_sum(tf.stack(log_probabilities) * returns)
grads = tape.gradient(loss, policy.trainable_variables)  # <- asked
