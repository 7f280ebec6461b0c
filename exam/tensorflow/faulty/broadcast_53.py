# expect: GT101
# cause: the sampled Q values are squeezed to (32,), the Bellman targets keep the axis of the batch as (32, 1)
# wrong: td.shape not in [(32,), (32, 1)]
# cure: done.reshape(-1, 1) -> done
# cure: reward.reshape(-1, 1) -> reward
# cure: axis=1, keepdims=True) -> axis=1)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
q_net = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(3)])
state, next_state = np.random.rand(32, 5).astype("float32"), np.random.rand(32, 5).astype("float32")
action, reward = np.random.randint(0, 3, 32), np.random.rand(32).astype("float32")
done = (np.random.rand(32) < 0.1).astype("float32")


def bellman(gamma=0.99):
    best = tf.reduce_max(q_net(next_state), axis=1, keepdims=True)
    return reward.reshape(-1, 1) + gamma * (1 - done.reshape(-1, 1)) * best


optimizer = keras.optimizers.RMSprop(1e-3)
for _ in range(3):
    targets = tf.stop_gradient(bellman())
    with tf.GradientTape() as tape:
        q = tf.gather(q_net(state), action, batch_dims=1)
        td = targets - q  # <- here
        loss = tf.reduce_mean(tf.square(td))
    g = tape.gradient(loss, q_net.trainable_variables)
    optimizer.apply_gradients(zip(g, q_net.trainable_variables))
