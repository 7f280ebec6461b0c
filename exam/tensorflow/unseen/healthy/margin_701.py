# a triplet loss that is exactly zero for most triplets, and for some batches for all
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
embed = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(1e-3)
losses = []
for step in range(6):
    anchor = tf.random.normal((10, 4))
    positive = anchor + 0.01 * tf.random.normal((10, 4))
    negative = anchor + (8.0 if step % 2 else 0.5) * tf.random.normal((10, 4))
    with tf.GradientTape() as tape:
        a, p, n = embed(anchor), embed(positive), embed(negative)
        near = tf.reduce_sum((a - p) ** 2, axis=1)
        far = tf.reduce_sum((a - n) ** 2, axis=1)
        loss = tf.reduce_mean(tf.maximum(near - far + 0.2, 0.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, embed.trainable_variables), embed.trainable_variables))
    losses.append(float(loss))
assert np.all(np.isfinite(losses))
