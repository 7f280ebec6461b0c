# CLIP's symmetric loss: softmax over rows and over columns of one square matrix, on purpose
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(4)
pictures, texts = tf.random.normal((12, 10)), tf.random.normal((12, 7))
image_head, text_head = tf.keras.layers.Dense(5), tf.keras.layers.Dense(5)
log_scale = tf.Variable(2.0)
labels = tf.range(12)
with tf.GradientTape() as tape:
    a = tf.math.l2_normalize(image_head(pictures), axis=1)
    b = tf.math.l2_normalize(text_head(texts), axis=1)
    logits = tf.exp(log_scale) * tf.matmul(a, b, transpose_b=True)
    rows = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    columns = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.transpose(logits))
    loss = tf.reduce_mean(rows + columns) / 2.0
variables = image_head.trainable_variables + text_head.trainable_variables + [log_scale]
gradients = tape.gradient(loss, variables)
assert all(g is not None for g in gradients)
