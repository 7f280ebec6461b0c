"""Cosine similarity of a batch with itself, with a temperature that is learned."""

import tensorflow as tf

tf.keras.utils.set_random_seed(5)
encoder, log_t = tf.keras.layers.Dense(4), tf.Variable(0.0)
a, b = tf.random.normal([6, 5]), tf.random.normal([6, 5])
with tf.GradientTape() as tape:
    u, v = (tf.math.l2_normalize(encoder(z), axis=-1) for z in (a, b))
    logits = tf.matmul(u, v, transpose_b=True) * tf.exp(log_t)
    labels = tf.eye(6)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, logits))
    loss += tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, tf.transpose(logits)))
grads = tape.gradient(loss, [*encoder.trainable_variables, log_t])
assert grads[0] is not None
assert grads[-1] is not None
