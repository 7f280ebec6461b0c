"""Logits of one unit are flattened for labels that are a vector."""

import tensorflow as tf

tf.keras.utils.set_random_seed(0)
net = tf.keras.layers.Dense(1)
x = tf.random.normal((24, 4))
clicked = tf.cast(x[:, 0] > 0, tf.float32)
with tf.GradientTape() as tape:
    logits = net(x)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=clicked, logits=logits[:, 0]))
grads = tape.gradient(loss, net.trainable_variables)
assert len(grads) == 2
