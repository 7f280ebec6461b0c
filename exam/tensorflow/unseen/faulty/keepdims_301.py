# expect: GT103 or GT101
# cause: the lengths of the 12 rows are divided through without their axis, and scale the 12 columns
# wrong: not np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-3)
# cure: tf.norm(z, axis=1) -> tf.norm(z, axis=1, keepdims=True)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
project = tf.keras.layers.Dense(12)
x = tf.random.normal((12, 5))
with tf.GradientTape() as tape:
    z = project(x)
    unit = z / tf.norm(z, axis=1)  # <- here
    similarity = tf.matmul(unit, unit, transpose_b=True) / 0.1
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.range(12), logits=similarity))
grads = tape.gradient(loss, project.trainable_variables)
