# expect: GT404 or GT514
# cause: the factors of users and of items both start at zero, where the gradient of each is zero
# wrong: not np.any(users.numpy())
# cure: users = tf.Variable(tf.zeros((10, 4))) -> users = tf.Variable(tf.random.normal((10, 4)))
# cure: items = tf.Variable(tf.zeros((8, 4))) -> items = tf.Variable(tf.random.normal((8, 4)))
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
ratings = tf.random.normal((10, 8))
users = tf.Variable(tf.zeros((10, 4)))  # <- here
items = tf.Variable(tf.zeros((8, 4)))  # <- here
for _ in range(10):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.matmul(users, items, transpose_b=True) - ratings) ** 2)  # <- here
    for v, g in zip((users, items), tape.gradient(loss, (users, items))):  # <- asked
        v.assign_sub(g)
