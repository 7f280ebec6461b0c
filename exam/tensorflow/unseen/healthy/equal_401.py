"""Factors of users and items that start with random numbers."""

import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
ratings = tf.random.normal((10, 8))
users = tf.Variable(tf.random.normal((10, 4)))
items = tf.Variable(tf.random.normal((8, 4)))
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(users, items, transpose_b=True) - ratings) ** 2)
    for v, g in zip((users, items), tape.gradient(loss, (users, items))):
        v.assign_sub(g)
assert np.any(users.numpy())
