"""Class weights picked by label: (n,) weights times (n,) losses."""

import tensorflow as tf

tf.keras.utils.set_random_seed(16)
head = tf.keras.layers.Dense(3)
x, labels = tf.random.normal([9, 4]), tf.constant([0, 1, 2, 0, 1, 2, 0, 1, 2])
class_weight = tf.constant([1.0, 2.0, 4.0])
with tf.GradientTape() as tape:
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, head(x))
    loss = tf.reduce_sum(each * tf.gather(class_weight, labels)) / 9.0
assert all(g is not None for g in tape.gradient(loss, head.trainable_variables))
