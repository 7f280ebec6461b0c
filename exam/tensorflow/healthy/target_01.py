"""DQN with a target network: no gradient goes into it, and it follows slowly."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)


def make_q():
    return keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])


q, q_target = make_q(), make_q()
q_target.set_weights(q.get_weights())
opt = keras.optimizers.Adam(0.01)
s, s2 = np.random.rand(20, 3).astype("float32"), np.random.rand(20, 3).astype("float32")
a, r = np.random.randint(0, 2, 20), np.random.rand(20).astype("float32")
before = q_target.get_weights()[0].copy()
for _ in range(5):
    target = r + 0.9 * tf.reduce_max(q_target(s2), axis=1)
    with tf.GradientTape() as tape:
        taken = tf.reduce_sum(q(s) * tf.one_hot(a, 2), axis=1)
        loss = keras.losses.Huber()(target, taken)
    opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))
    for slow, fast in zip(q_target.variables, q.variables):
        slow.assign(0.9 * slow + 0.1 * fast)
assert not np.allclose(before, q_target.get_weights()[0])
