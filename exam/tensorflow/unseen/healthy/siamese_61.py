"""A siamese network with a contrastive margin: distances (n,) and labels (n,)."""

import tensorflow as tf

tf.keras.utils.set_random_seed(3)
tower = tf.keras.Sequential([tf.keras.layers.Dense(6, activation="relu"), tf.keras.layers.Dense(2)])
a, b = tf.random.normal([10, 4]), tf.random.normal([10, 4])
same = tf.cast(tf.random.uniform([10]) > 0.5, tf.float32)
with tf.GradientTape() as tape:
    gap = tf.sqrt(tf.reduce_sum((tower(a) - tower(b)) ** 2, axis=1) + 1e-8)
    loss = tf.reduce_mean(same * gap**2 + (1 - same) * tf.nn.relu(1.0 - gap) ** 2)
grads = tape.gradient(loss, tower.trainable_variables)
assert grads[0] is not None
