import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal((3, 5, 4))
mask = tf.constant([[[1.0, 1.0, 1.0, 1.0, 0.0]]])
w = tf.Variable(tf.random.normal((4, 4)))
with tf.GradientTape() as tape:
    scores = tf.matmul(x @ w, x, transpose_b=True)
    scores = tf.where(mask > 0, scores, -1e9)
    loss = tf.reduce_mean(tf.square(tf.nn.softmax(scores) @ x))
grad = tape.gradient(loss, w)
assert np.isfinite(loss.numpy())
