"""Gradients and variables of two networks in the same order."""

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(0)
actor, critic = keras.layers.Dense(4, use_bias=False), keras.layers.Dense(4, use_bias=False)
x, y = tf.random.normal((16, 6)), tf.random.normal((16, 4))
optimizer = keras.optimizers.SGD(0.1)
actor.build((None, 6))
before = actor.kernel.numpy()
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((actor(x) - y) ** 2) + tf.reduce_mean(tf.abs(critic(x) + y))
grads = tape.gradient(loss, [actor.kernel, critic.kernel])
optimizer.apply_gradients(zip(grads, [actor.kernel, critic.kernel]))
assert np.allclose(actor.kernel.numpy() - before, -0.1 * grads[0].numpy(), atol=1e-6)
