# one inner step on copies of the weights that are tensors on purpose, and the outer gradient through it
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(25)
theta = [
    tf.Variable(tf.random.normal((1, 10)) * 0.5),
    tf.Variable(tf.zeros(10)),
    tf.Variable(tf.random.normal((10, 1)) * 0.3),
]


def forward(weights, x):
    return tf.tanh(x @ weights[0] + weights[1]) @ weights[2]


def task(rng):
    phase = rng.uniform(0, np.pi)
    x = tf.constant(rng.uniform(-3, 3, (20, 1)), tf.float32)
    return x, tf.sin(x + phase)


rng = np.random.default_rng(25)
optimizer = tf.keras.optimizers.Adam(0.02)
for step in range(5):
    with tf.GradientTape() as outer:
        total = 0.0
        for _ in range(2):
            x, y = task(rng)
            weights = theta
            with tf.GradientTape() as inner:
                before = tf.reduce_mean((forward(weights, x[:10]) - y[:10]) ** 2)
            weights = [w - 0.1 * g for w, g in zip(weights, inner.gradient(before, weights))]
            total += tf.reduce_mean((forward(weights, x[10:]) - y[10:]) ** 2)
    grads = outer.gradient(total, theta)
    optimizer.apply_gradients(zip(grads, theta))
assert all(np.all(np.isfinite(g)) for g in grads)
