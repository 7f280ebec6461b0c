# second derivatives by nested tapes for the heat equation, with one tape inside of the other
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(13)
net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(12, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def residual(x, t):
    with tf.GradientTape() as second:
        second.watch(x)
        with tf.GradientTape(persistent=True) as first:
            first.watch([x, t])
            u = net(tf.concat([x, t], axis=1))
        u_x = first.gradient(u, x)
    u_xx, u_t = second.gradient(u_x, x), first.gradient(u, t)
    return u_t - 0.1 * u_xx


for _ in range(3):
    x, t = tf.random.uniform((20, 1)), tf.random.uniform((20, 1))
    with tf.GradientTape() as tape:
        start = net(tf.concat([x, tf.zeros_like(x)], axis=1)) - tf.sin(np.pi * x)
        loss = tf.reduce_mean(residual(x, t) ** 2) + tf.reduce_mean(start**2)
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients([(g, v) for g, v in zip(gradients, net.trainable_variables) if g is not None])
assert np.isfinite(float(loss))
