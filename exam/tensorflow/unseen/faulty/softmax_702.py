# expect: GT501
# cause: the policy is normalised over the batch of states instead of the actions
# wrong: not np.allclose(tf.reduce_sum(probabilities, axis=1), 1.0, atol=1e-4)
# cure: tf.nn.softmax(policy(states), axis=0) -> tf.nn.softmax(policy(states), axis=1)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(33)
rng = np.random.default_rng(33)
policy = tf.keras.Sequential(
    [tf.keras.Input((4,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(3)]
)
optimizer = tf.keras.optimizers.Adam(1e-3)


def discounted(rewards, gamma=0.95):
    total, out = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        out.append(total)
    return np.array(out[::-1], dtype="float32")


for episode in range(3):
    states = tf.constant(rng.normal(size=(14, 4)), tf.float32)
    actions = tf.constant(rng.integers(0, 3, 14), tf.int32)
    returns = discounted(rng.random(14))
    with tf.GradientTape() as tape:
        probabilities = tf.nn.softmax(policy(states), axis=0)  # <- here
        chosen = tf.gather(probabilities, actions, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(chosen + 1e-8) * (returns - returns.mean()))
    gradients = tape.gradient(loss, policy.trainable_variables)
    optimizer.apply_gradients(zip(gradients, policy.trainable_variables))
