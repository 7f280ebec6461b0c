# expect: GT201 because GT208
# cause: stop_gradient is on the online network's values instead of the target's
# wrong: all(g is None for g in grads)
# cure: tf.stop_gradient(q_taken) - target -> q_taken - tf.stop_gradient(target)
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(0)
s = np.random.rand(16, 4).astype("float32")
s_next = np.random.rand(16, 4).astype("float32")
a = np.random.randint(0, 2, 16)
r = np.random.rand(16).astype("float32")
online = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2)])
target_net = keras.models.clone_model(online)
online(s)
target_net(s)


def td_loss(gamma=0.9):
    q_taken = tf.reduce_sum(online(s) * tf.one_hot(a, 2), axis=1)
    target = r + gamma * tf.reduce_max(target_net(s_next), axis=1)
    return tf.reduce_mean(tf.square(tf.stop_gradient(q_taken) - target))  # <- here


with tf.GradientTape() as tape:
    loss = td_loss()
grads = tape.gradient(loss, online.trainable_variables)  # <- asked
print(grads)
