# expect: GT403 or GT402
# cause: the padded rows have length 0, and the division that where hides makes their gradient NaN
# wrong: np.isnan(grads[0].numpy()).any()
# cure: total / length -> total / tf.maximum(length, 1.0)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
table = tf.Variable(rng.normal(size=(9, 4)), dtype=tf.float32)
gate = tf.Variable(1.0)
sentences = tf.constant([[3, 5, 1], [2, 0, 0], [0, 0, 0]])  # 0 is padding


def sentence_vectors(ids):
    mask = tf.cast(ids > 0, tf.float32)[..., None]
    total = tf.reduce_sum(tf.gather(table, ids) * mask, axis=1) * gate
    length = tf.reduce_sum(mask, axis=1) * gate
    return tf.where(length > 0, total / length, tf.zeros_like(total))  # <- here


with tf.GradientTape() as tape:
    loss = tf.reduce_mean(tf.square(sentence_vectors(sentences) - 1.0))
grads = tape.gradient(loss, [gate, table])  # <- asked
print(loss.numpy(), grads[0].numpy())
