import numpy as np
import tensorflow as tf

rng = np.random.default_rng(19)
x = tf.constant(rng.normal(size=(50, 3)), tf.float32)
y = tf.constant(x.numpy() @ np.array([[1.0], [-1.0], [0.5]]) + 0.2, tf.float32)
W, b = tf.Variable(tf.zeros((3, 1))), tf.Variable(tf.zeros(1))
parameters = [W, b]

losses = []
for epoch in range(6):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, W) + b - y))
    gradients = tape.gradient(loss, parameters)
    for parameter, gradient in zip(parameters, gradients):
        parameter.assign_sub(0.1 * gradient)
    losses.append(float(loss))
assert not (np.allclose(W.numpy(), 0.0))
