# divide_no_nan, a masked mean over sequences of which one is empty, and a log of clipped probabilities
import numpy as np
import tensorflow as tf

tf.random.set_seed(15)
steps = tf.random.normal((5, 6, 3))
lengths = tf.constant([6, 0, 2, 4, 1])
w = tf.Variable(tf.random.normal((3, 4), stddev=0.4))
labels = tf.constant([0, 1, 2, 3, 1])
with tf.GradientTape() as tape:
    mask = tf.sequence_mask(lengths, 6, dtype=tf.float32)[:, :, None]
    mean = tf.math.divide_no_nan(tf.reduce_sum(mask * steps, axis=1), tf.reduce_sum(mask, axis=1))
    p = tf.nn.softmax(mean @ w)
    picked = tf.gather(p, labels, axis=1, batch_dims=1)
    loss = -tf.reduce_mean(tf.math.log(tf.clip_by_value(picked, 1e-7, 1.0)))
gradient = tape.gradient(loss, w)
assert np.all(np.isfinite(gradient))
