import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(5)
actor = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(16, "tanh"), layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.Input((3,)), layers.Dense(16, "tanh"), layers.Dense(1)])


def rollout(n=24):
    states = tf.random.normal((n, 3))
    actions = tf.random.categorical(actor(states), 1)[:, 0]
    rewards = tf.where(actions == 0, states[:, 0], -states[:, 0])
    return states, actions, tf.math.cumsum(rewards, reverse=True)


def losses(states, actions, returns):
    log_prob = -tf.nn.sparse_softmax_cross_entropy_with_logits(actions, actor(states))
    value = critic(states)[:, 0]
    actor_loss = -tf.reduce_mean(log_prob * tf.stop_gradient(returns - value))
    critic_loss = tf.reduce_mean((returns - value) ** 2)
    return actor_loss, critic_loss


for episode in range(3):
    episode_data = rollout()
    with tf.GradientTape(persistent=True) as tape:
        actor_loss, critic_loss = losses(*episode_data)
    actor_grads = tape.gradient(actor_loss, actor.trainable_variables)
    critic_grads = tape.gradient(critic_loss, critic.trainable_variables)
    for grads, network in ((actor_grads, actor), (critic_grads, critic)):
        for g, v in zip(grads, network.trainable_variables):
            if g is not None:
                v.assign_sub(0.01 * g)
assert not (all(g is None for g in critic_grads))
