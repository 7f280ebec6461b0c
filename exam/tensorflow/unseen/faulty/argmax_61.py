# expect: GT201 because GT209 or GT207
# cause: the rank loss is computed from argsort, which gives positions and has no derivative
# wrong: grads[0] is None
# cure: ranks = tf.cast(tf.argsort(scores), tf.float32) -> ranks = scores
import numpy as np
import tensorflow as tf

documents = np.random.default_rng(2).normal(size=(10, 3)).astype("float32")
relevance = tf.range(10, dtype=tf.float32)
ranker = tf.keras.layers.Dense(1, use_bias=False)
with tf.GradientTape() as tape:
    scores = ranker(documents)[:, 0]
    ranks = tf.cast(tf.argsort(scores), tf.float32)  # <- here
    loss = tf.reduce_mean((ranks - relevance) ** 2)
grads = tape.gradient(loss, ranker.trainable_variables)  # <- asked
