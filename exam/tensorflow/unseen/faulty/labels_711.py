# expect: GT118 or GT509 or GT101 or GT102
# cause: the labels keep an axis of one class beside the logits of every step
# wrong: abs(float(loss) - float(tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(words, logits)))) > 1e-3
# cure: tf.cast(words[..., None], tf.float32) -> tf.one_hot(words, 9)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(10)
words = tf.random.uniform((6, 5), maxval=9, dtype=tf.int32)
states = tf.random.normal((6, 5, 4))
head = tf.keras.layers.Dense(9)
targets = tf.cast(words[..., None], tf.float32)
with tf.GradientTape() as tape:
    logits = head(states)
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(targets, logits))  # <- here
gradients = tape.gradient(loss, head.trainable_variables)
