# expect: GT201 because GT203
# cause: the style image starts as a tensor instead of a Variable, and is not watched
# wrong: grad is None
# cure: canvas = tf.random.uniform((1, 8, 8, 3)) -> canvas = tf.Variable(tf.random.uniform((1, 8, 8, 3)))
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
style = tf.constant(np.random.default_rng(0).random((1, 8, 8, 3)), tf.float32)
canvas = tf.random.uniform((1, 8, 8, 3))  # <- here


def gram(x):
    flat = tf.reshape(x, (-1, 3))
    return tf.matmul(flat, flat, transpose_a=True) / 64.0


with tf.GradientTape() as tape:
    style_loss = tf.reduce_sum((gram(canvas) - gram(style)) ** 2)  # <- here
grad = tape.gradient(style_loss, canvas)  # <- asked
print(grad)
