"""The norm of all gradients, with the sparse one made dense."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
embedding, head = tf.keras.layers.Embedding(50, 8), tf.keras.layers.Dense(1)
words, y = tf.random.uniform((16, 7), 0, 50, tf.int32), tf.random.normal((16, 1))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean((head(tf.reduce_mean(embedding(words), axis=1)) - y) ** 2)
grads = tape.gradient(loss, embedding.trainable_variables + head.trainable_variables)
norm = tf.sqrt(sum(tf.reduce_sum(tf.convert_to_tensor(g) ** 2) for g in grads))
assert float(norm) > 0
