# sharpness-aware minimisation: the weights are moved up, a second gradient is taken there, and they are moved back
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(8)
net = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD(0.05)
x = tf.random.normal((30, 5))
y = tf.reduce_sum(x, axis=1, keepdims=True)


def gradients():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(x) - y) ** 2)
    return loss, tape.gradient(loss, net.trainable_variables)


for _ in range(4):
    loss, first = gradients()
    norm = tf.linalg.global_norm(first)
    steps = [0.05 * g / (norm + 1e-12) for g in first]
    for v, e in zip(net.trainable_variables, steps):
        v.assign_add(e)
    _, second = gradients()
    for v, e in zip(net.trainable_variables, steps):
        v.assign_sub(e)
    optimizer.apply_gradients(zip(second, net.trainable_variables))
assert float(loss) < float(tf.reduce_mean(y**2)) * 2
