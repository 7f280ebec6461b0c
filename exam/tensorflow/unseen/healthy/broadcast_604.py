import collections

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
buffer = collections.deque(maxlen=200)
for _ in range(100):
    s = rng.normal(size=4).astype("float32")
    buffer.append((s, int(rng.integers(2)), float(s[0] > 0), (s * 0.9).astype("float32"), float(rng.random() < 0.1)))


def q_network():
    return tf.keras.Sequential(
        [tf.keras.Input((4,)), tf.keras.layers.Dense(24, activation="relu"), tf.keras.layers.Dense(2)]
    )


def sample(size):
    rows = [buffer[i] for i in rng.integers(0, len(buffer), size)]
    return {
        "state": np.stack([row[0] for row in rows]),
        "action": np.array([row[1] for row in rows]),
        "reward": np.array([row[2] for row in rows], "float32"),
        "next": np.stack([row[3] for row in rows]),
        "done": np.array([row[4] for row in rows], "float32"),
    }


online, target = q_network(), q_network()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)
for step in range(5):
    batch = sample(32)
    with tf.GradientTape() as tape:
        chosen = tf.reduce_sum(online(batch["state"]) * tf.one_hot(batch["action"], 2), axis=1)
        best = tf.reduce_max(target(batch["next"]), axis=1)
        goal = batch["reward"] + 0.99 * (1.0 - batch["done"]) * best
        td_error = tf.stop_gradient(goal) - chosen
        loss = tf.reduce_mean(tf.square(td_error))
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
assert not (td_error.shape != (32,))
