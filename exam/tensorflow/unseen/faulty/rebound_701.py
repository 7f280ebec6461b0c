# expect: GT205 or GT513 or GT512
# cause: `parameter = parameter - ...` binds the loop's name to a new tensor; the variables never change
# wrong: np.allclose(W.numpy(), 0.0)
# cure: parameter = parameter - 0.1 * gradient -> parameter.assign_sub(0.1 * gradient)
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
        parameter = parameter - 0.1 * gradient  # <- here
    losses.append(float(loss))
