# expect: GT118
# cause: the labels were made one-hot, but the sparse loss takes class numbers
# wrong: raises ValueError
# cure: labels=one_hot -> labels=species
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
measurements = rng.normal(size=(30, 4)).astype("float32")
species = rng.integers(0, 3, size=30)
one_hot = tf.one_hot(species, depth=3)

W = tf.Variable(tf.zeros((4, 3)))
b = tf.Variable(tf.zeros((3,)))
for _ in range(3):
    with tf.GradientTape() as tape:
        logits = measurements @ W + b
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=one_hot, logits=logits)  # <- here
        loss = tf.reduce_mean(losses)
    dW, db = tape.gradient(loss, (W, b))
    W.assign_sub(0.1 * dW)
    b.assign_sub(0.1 * db)
