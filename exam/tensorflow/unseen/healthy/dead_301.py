"""Small differences are squared and averaged in float32."""

import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal((8192,)) * 1e-2
y = 1.001 * x
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    error = tf.cast(x * w - y, tf.float32)
    loss = tf.reduce_mean(error**2)
grad = tape.gradient(loss, w)
assert grad.numpy() != 0
