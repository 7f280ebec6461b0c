"""Distillation: the teacher is used without training, at a temperature, and the student learns."""

import tensorflow as tf

tf.keras.utils.set_random_seed(10)
teacher, student = tf.keras.layers.Dense(3), tf.keras.layers.Dense(3)
teacher.trainable = False
x = tf.random.normal([18, 4])
labels = tf.random.uniform([18], maxval=3, dtype=tf.int32)
with tf.GradientTape() as tape:
    soft = tf.nn.softmax(teacher(x) / 2.0)
    logits = student(x)
    hard = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    loss = hard + 4.0 * tf.keras.losses.KLDivergence()(soft, tf.nn.softmax(logits / 2.0))
assert all(g is not None for g in tape.gradient(loss, student.trainable_variables))
