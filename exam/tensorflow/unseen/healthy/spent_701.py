import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(2)
net = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(6, "tanh"), tf.keras.layers.Dense(2)])
state = tf.random.normal((10, 3))
velocity = tf.random.normal((10, 2))
with tf.GradientTape(persistent=True) as tape:
    tape.watch(state)
    output = net(state)
    loss = tf.reduce_mean((output - velocity) ** 2)
sensitivity = tape.batch_jacobian(output, state)
gradients = tape.gradient(loss, net.trainable_variables)
print(tf.norm(sensitivity), gradients[0].shape)
assert np.isfinite(float(loss))
