# expect: GT118
# cause: the labels are one-hot, and sparse_softmax_cross_entropy_with_logits takes class numbers
# wrong: raises ValueError
# cure: labels=onehot -> labels=species
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(12)
petals = rng.normal(size=(30, 4)).astype("float32")
species = rng.integers(0, 3, size=30)
onehot = tf.one_hot(species, 3, dtype=tf.int32)
w = tf.Variable(rng.normal(size=(4, 3)).astype("float32"))

with tf.GradientTape() as t:
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=onehot, logits=petals @ w)  # <- here
    loss = tf.reduce_mean(each)
print(t.gradient(loss, w))
