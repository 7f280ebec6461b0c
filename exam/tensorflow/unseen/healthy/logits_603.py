import numpy as np
import tensorflow as tf


class Tagger(tf.keras.Model):
    def __init__(self, tags):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(40, 8)
        self.head = tf.keras.layers.Dense(tags)

    def call(self, words):
        pooled = tf.reduce_mean(self.embed(words), axis=1)
        return self.head(pooled)


def multi_label_loss(truth, scores):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=scores))


tf.keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
words = tf.constant(rng.integers(0, 40, (32, 6)))
truth = tf.constant(rng.random((32, 5)) < 0.3, tf.float32)
tagger, optimizer = Tagger(5), tf.keras.optimizers.Adam(0.01)
for _ in range(4):
    with tf.GradientTape() as tape:
        scores = tagger(words)
        loss = multi_label_loss(truth, scores)
    optimizer.apply_gradients(zip(tape.gradient(loss, tagger.trainable_variables), tagger.trainable_variables))
assert not (float(tf.reduce_min(scores)) >= 0.0)
