# the semi-gradient of DQN with the max of a target network, Huber loss, and a target updated by assign
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)


def build():
    return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(12, "relu"), tf.keras.layers.Dense(2)])


online, target = build(), build()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)
huber = tf.keras.losses.Huber(reduction="none")
for step in range(4):
    s, s2 = tf.random.normal((16, 3)), tf.random.normal((16, 3))
    a, r = tf.random.uniform((16,), maxval=2, dtype=tf.int32), tf.random.uniform((16,))
    best = tf.argmax(online(s2), axis=1)
    goal = r + 0.9 * tf.gather(target(s2), best, axis=1, batch_dims=1)
    with tf.GradientTape() as tape:
        q = tf.gather(online(s), a, axis=1, batch_dims=1)
        td = huber(goal[:, None], q[:, None])
        loss = tf.reduce_mean(td)
    optimizer.apply_gradients(zip(tape.gradient(loss, online.trainable_variables), online.trainable_variables))
    for w, w_online in zip(target.weights, online.weights):
        w.assign(0.95 * w + 0.05 * w_online)
assert np.isfinite(float(loss))
