import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
captions = tf.random.uniform((10,), maxval=7, dtype=tf.int32)
pictures = tf.random.normal((10, 13))
head = tf.keras.layers.Dense(7)
with tf.GradientTape() as tape:
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=captions, logits=head(pictures))
    loss = tf.reduce_mean(losses, axis=0)
gradients = tape.gradient(loss, head.trainable_variables)
assert np.isfinite(float(loss))
