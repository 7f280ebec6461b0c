"""A detection loss: a smooth L1 of boxes where there is an object, and a score everywhere."""

import tensorflow as tf

tf.keras.utils.set_random_seed(2)
head = tf.keras.layers.Dense(5)
x, boxes = tf.random.normal([9, 6]), tf.random.uniform([9, 4])
has_object = tf.constant([1.0, 0, 1, 1, 0, 0, 1, 0, 1])
with tf.GradientTape() as tape:
    out = head(x)
    gap = tf.abs(out[:, :4] - boxes)
    smooth = tf.reduce_sum(tf.where(gap < 1.0, 0.5 * gap**2, gap - 0.5), axis=1)
    located = tf.reduce_sum(smooth * has_object) / tf.reduce_sum(has_object)
    scored = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=has_object, logits=out[:, 4]))
    loss = located + scored
assert all(g is not None for g in tape.gradient(loss, head.trainable_variables))
