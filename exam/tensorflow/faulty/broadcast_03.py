# expect: GT101
# cause: the critic's values are (32, 1) and the returns (32,), so every advantage is of another state
# wrong: advantage.shape != (32,)
# cure: values = critic(states) -> values = tf.squeeze(critic(states), axis=1)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(3)
states = np.random.randn(32, 4).astype("float32")
actions = np.random.randint(0, 2, size=32)
rewards = np.random.rand(32).astype("float32")


def discount(rewards, gamma=0.95):
    total, out = 0.0, []
    for r in rewards[::-1]:
        total = r + gamma * total
        out.insert(0, total)
    return np.array(out, dtype="float32")


returns = discount(rewards)
actor = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(2)])
critic = keras.Sequential([keras.layers.Dense(16, activation="tanh"), keras.layers.Dense(1)])
opt = keras.optimizers.Adam(1e-2)

with tf.GradientTape() as tape:
    logits = actor(states)
    values = critic(states)
    advantage = returns - values  # <- here
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(labels=actions, logits=logits)
    actor_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(advantage))
    critic_loss = tf.reduce_mean(advantage**2)
    total_loss = actor_loss + 0.5 * critic_loss
variables = actor.trainable_variables + critic.trainable_variables
opt.apply_gradients(zip(tape.gradient(total_loss, variables), variables))
