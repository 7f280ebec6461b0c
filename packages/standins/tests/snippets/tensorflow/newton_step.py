"""A Newton step from a Hessian that is reshaped into a matrix."""

import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, -4.0], [0.5, 1.0]])
kernel = tf.Variable([[0.5], [-0.25]])
bias = tf.Variable([0.1])
target = tf.constant([[1.0], [2.0], [-1.0]])
with tf.GradientTape() as t2:
    with tf.GradientTape() as t1:
        out = x @ kernel + bias
        loss = tf.reduce_mean(out**4 - target * out)
    g = t1.gradient(loss, kernel)
h = t2.jacobian(g, kernel)
print(f"kernel.shape: {kernel.shape}")
print(f"h.shape: {h.shape}")
n_params = tf.reduce_prod(kernel.shape)
g_vec = tf.reshape(g, [n_params, 1])
h_mat = tf.reshape(h, [n_params, n_params])
print(h_mat)
eps = 1e-3
update = tf.linalg.solve(h_mat + tf.eye(h_mat.shape[0]) * eps, g_vec)
kernel.assign_sub(tf.reshape(update, kernel.shape))
print(kernel)
