# expect: GT402
# cause: the distance of a sample to itself is 0, where the root has an infinite slope
# wrong: not np.all(np.isfinite(g.numpy()))
# cure: tf.sqrt(tf.reduce_sum((a[:, None, :] - a[None, :, :]) ** 2, axis=-1)) -> tf.sqrt(tf.reduce_sum((a[:, None, :] - a[None, :, :]) ** 2, axis=-1) + 1e-9)
import numpy as np
import tensorflow as tf


class MetricLearner(tf.Module):
    def __init__(self, inputs=6, outputs=2):
        super().__init__()
        self.projection = tf.Variable(tf.random.stateless_normal((inputs, outputs), seed=(5, 5)))

    def __call__(self, x):
        return x @ self.projection


def pairwise_distance(a):
    return tf.sqrt(tf.reduce_sum((a[:, None, :] - a[None, :, :]) ** 2, axis=-1))  # <- here


def contrastive(distance, same, margin=1.0):
    near = same * distance
    far = (1.0 - same) * tf.maximum(margin - distance, 0.0) ** 2
    return tf.reduce_mean(near + far)


rng = np.random.default_rng(2)
x, person = tf.constant(rng.normal(size=(10, 6)), tf.float32), tf.constant(rng.integers(0, 3, 10))
same = tf.cast(person[:, None] == person[None, :], tf.float32)
learner = MetricLearner()
with tf.GradientTape() as tape:
    loss = contrastive(pairwise_distance(learner(x)), same)
g = tape.gradient(loss, learner.projection)  # <- asked
