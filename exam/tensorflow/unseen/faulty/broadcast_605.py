# expect: GT101
# cause: the source term is (50,) and the second derivative (50, 1), so the residual is of all pairs of points
# wrong: equation_residual(grid).shape == (50, 50)
# cure: x = np.linspace(0.0, 1.0, 50).astype("float32") -> x = np.linspace(0.0, 1.0, 50).astype("float32")[:, None]
# cure: grid = tf.constant(x)[:, None] -> grid = tf.constant(x)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
x = np.linspace(0.0, 1.0, 50).astype("float32")  # <- here
grid = tf.constant(x)[:, None]
source = tf.constant(-(np.pi**2) * np.sin(np.pi * x), tf.float32)
net = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(20, "tanh"), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


def equation_residual(points):
    with tf.GradientTape() as second:
        second.watch(points)
        with tf.GradientTape() as first:
            first.watch(points)
            u = net(points)
        u_x = first.gradient(u, points)
    u_xx = second.gradient(u_x, points)
    return u_xx - source  # <- here


@tf.function
def train_step(points):
    with tf.GradientTape() as tape:
        inside = tf.reduce_mean(equation_residual(points) ** 2)
        edges = tf.reduce_mean(net(tf.constant([[0.0], [1.0]])) ** 2)
        loss = inside + 10.0 * edges
    slopes = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(slopes, net.trainable_variables))
    return loss


for step in range(6):
    train_step(grid)
