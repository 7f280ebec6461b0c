# several sigmoids with a weight for each class and each example: (n, 1) and (classes,) on purpose
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(18)
x = tf.random.normal((6, 9))
tags = tf.cast(tf.random.uniform((6, 6)) < 0.3, tf.float32)
class_weight = tf.constant([1.0, 2.0, 0.5, 1.0, 3.0, 1.0])
example_weight = tf.random.uniform((6, 1))
head = tf.keras.layers.Dense(6)
with tf.GradientTape() as tape:
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=tags, logits=head(x))
    loss = tf.reduce_mean(losses * class_weight * example_weight)
gradients = tape.gradient(loss, head.trainable_variables)
assert gradients[0].shape == (9, 6)
