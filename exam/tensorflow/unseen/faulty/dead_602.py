# expect: GT404 or GT504
# cause: the biases of the hidden layer are so low that no unit is ever active
# wrong: np.all(grads[0].numpy() == 0)
# cure: tf.constant_initializer(-20.0) -> tf.constant_initializer(0.1)
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(0)
hidden = layers.Dense(10, activation="relu", bias_initializer=tf.constant_initializer(-20.0))  # <- here
net = tf.keras.Sequential([tf.keras.Input((4,)), hidden, layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.01)
rng = np.random.default_rng(5)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
y = tf.reduce_sum(x**2, axis=1, keepdims=True)


def step():
    with tf.GradientTape() as tape:
        error = tf.reduce_mean((net(x, training=True) - y) ** 2)  # <- here
    grads = tape.gradient(error, net.trainable_variables)  # <- asked
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return grads


for _ in range(5):
    grads = step()
