# pairwise ranking: scores of all documents of a query against each other, over pairs that differ in relevance
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(24)
scorer = tf.keras.Sequential([tf.keras.Input((5,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(1)])
documents = tf.random.normal((9, 5))
relevance = tf.constant([0, 1, 2, 0, 0, 3, 1, 0, 2])
with tf.GradientTape() as tape:
    scores = scorer(documents)
    difference = scores - tf.transpose(scores)
    better = tf.cast(relevance[:, None] > relevance[None, :], tf.float32)
    loss = tf.reduce_sum(better * tf.nn.softplus(-difference)) / tf.reduce_sum(better)
gradients = tape.gradient(loss, scorer.trainable_variables)
assert all(np.all(np.isfinite(g)) for g in gradients)
