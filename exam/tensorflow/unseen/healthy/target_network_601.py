# a target network that follows by a moving average, and whose values are not differentiated
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)


def network():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(2)])


online, target = network(), network()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(0.01)
rng = np.random.default_rng(0)


@tf.function
def learn(state, action, reward, following):
    goal = reward + 0.9 * tf.reduce_max(target(following), axis=1)
    with tf.GradientTape() as tape:
        value = tf.gather(online(state), action, axis=1, batch_dims=1)
        loss = tf.reduce_mean(tf.keras.losses.huber(goal[:, None], value[:, None]))
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    return loss


for step in range(8):
    s = tf.constant(rng.normal(size=(20, 3)), tf.float32)
    loss = learn(s, tf.constant(rng.integers(0, 2, 20)), s[:, 0], 0.9 * s)
    for slow, fast in zip(target.variables, online.variables):
        slow.assign(0.95 * slow + 0.05 * fast)
assert np.isfinite(loss.numpy())
