# expect: GT103
# cause: the similarities of a square batch are normalised with the maximum of each row along the columns
# wrong: float(tf.reduce_max(stable)) > 1e-6
# cure: tf.reduce_max(similarity, axis=1) -> tf.reduce_max(similarity, axis=1, keepdims=True)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
images = rng.normal(size=(12, 6)).astype("float32")
texts = rng.normal(size=(12, 6)).astype("float32")
P = tf.Variable(rng.normal(size=(6, 6)) * 0.4, dtype=tf.float32)

with tf.GradientTape() as tape:
    similarity = tf.matmul(images @ P, texts, transpose_b=True)
    stable = similarity - tf.reduce_max(similarity, axis=1)  # <- here
    log_z = tf.math.log(tf.reduce_sum(tf.exp(stable), axis=1))
    loss = tf.reduce_mean(log_z - tf.linalg.diag_part(stable))
g = tape.gradient(loss, P)
print(float(loss), float(tf.norm(g)))
