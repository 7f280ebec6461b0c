# expect: GT114
# cause: pooling leaves 7 x 7 x 8 values for each image, not 14 x 14 x 8
# wrong: raises InvalidArgumentError
# cure: [-1, 14 * 14 * 8] -> [-1, 7 * 7 * 8]
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
images = np.random.default_rng(0).random((5, 14, 14, 1)).astype("float32")
filters = tf.Variable(tf.random.normal((3, 3, 1, 8), stddev=0.1))
dense = tf.Variable(tf.random.normal((7 * 7 * 8, 10), stddev=0.1))


def cnn(x):
    x = tf.nn.relu(tf.nn.conv2d(x, filters, strides=1, padding="SAME"))
    x = tf.nn.max_pool2d(x, ksize=2, strides=2, padding="SAME")
    flat = tf.reshape(x, [-1, 14 * 14 * 8])  # <- here
    return flat @ dense


with tf.GradientTape() as tape:
    logits = cnn(images)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(np.arange(5), logits))
grads = tape.gradient(loss, [filters, dense])
