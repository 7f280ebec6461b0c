import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
hidden = layers.Dense(10, activation="relu", bias_initializer=tf.constant_initializer(0.1))
net = tf.keras.Sequential([tf.keras.Input((4,)), hidden, layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
rng = np.random.default_rng(5)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
y = tf.reduce_sum(x**2, axis=1, keepdims=True)


def step():
    with tf.GradientTape() as tape:
        error = tf.reduce_mean((net(x, training=True) - y) ** 2)
    grads = tape.gradient(error, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return grads


for _ in range(5):
    grads = step()
assert not (np.all(grads[0].numpy() == 0))
