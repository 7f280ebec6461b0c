# expect: GT101
# cause: the weights of the examples are a column, the cross entropy of each example a vector
# wrong: weighted.shape == (24, 24)
# cure: class_weight[:, None] -> class_weight
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(24, 5)), tf.float32)
labels = tf.constant(rng.integers(0, 3, 24))
class_weight = tf.gather(tf.constant([1.0, 2.0, 0.5]), labels)
w = tf.Variable(tf.constant(rng.normal(size=(5, 3)), tf.float32))
for _ in range(3):
    with tf.GradientTape() as tape:
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x @ w)
        weighted = each * class_weight[:, None]  # <- here
        loss = tf.reduce_mean(weighted)
    w.assign_sub(0.1 * tape.gradient(loss, w))
