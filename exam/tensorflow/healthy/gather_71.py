"""Log-probabilities of the labels of a sequence, by gather with batch dimensions."""

import tensorflow as tf

tf.keras.utils.set_random_seed(5)
head = tf.keras.layers.Dense(4)
x = tf.random.normal([3, 6, 5])
labels = tf.random.uniform([3, 6], maxval=4, dtype=tf.int32)
with tf.GradientTape() as tape:
    logp = tf.nn.log_softmax(head(x), axis=-1)
    loss = -tf.reduce_mean(tf.gather(logp, labels, batch_dims=2))
assert all(g is not None for g in tape.gradient(loss, head.trainable_variables))
