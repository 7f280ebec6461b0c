# expect: GT402
# cause: the distance of equal embeddings is 0, where the root has an infinite slope
# wrong: np.isnan(grads.numpy()).any()
# cure: tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1)) -> tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1) + 1e-12)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
anchor = rng.normal(size=(6, 5)).astype("float32")
positive = anchor + rng.normal(scale=0.1, size=(6, 5)).astype("float32")
negative = rng.normal(size=(6, 5)).astype("float32")
positive[3] = anchor[3]  # a duplicate in the data
projection = tf.Variable(rng.normal(size=(5, 2)), dtype=tf.float32)


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=1))  # <- here


def triplet_loss(margin=1.0):
    a, p, n = anchor @ projection, positive @ projection, negative @ projection
    return tf.reduce_mean(tf.maximum(distance(a, p) - distance(a, n) + margin, 0.0))


with tf.GradientTape() as tape:
    loss = triplet_loss(margin=5.0)
grads = tape.gradient(loss, projection)  # <- asked
print("loss", loss.numpy(), "grads", grads.numpy())
