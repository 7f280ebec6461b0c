# expect: GT401
# cause: a sequence without any step has a mask of zeros only, and its mean is 0 / 0
# wrong: np.isnan(loss.numpy())
# cure: tf.reduce_sum(x * weights, axis=1) / tf.reduce_sum(weights, axis=1) -> tf.math.divide_no_nan(tf.reduce_sum(x * weights, axis=1), tf.reduce_sum(weights, axis=1))
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
lengths = [5, 3, 0, 4]
padded = np.zeros((4, 5, 6), "float32")
for row, length in enumerate(lengths):
    padded[row, :length] = np.random.default_rng(row).normal(size=(length, 6))
projection = tf.keras.layers.Dense(4, activation="relu")
head = tf.keras.layers.Dense(1)
optimizer = tf.keras.optimizers.Adam(0.01)


def masked_mean(x, lengths):
    weights = tf.sequence_mask(lengths, maxlen=5, dtype=tf.float32)[:, :, None]
    return tf.reduce_sum(x * weights, axis=1) / tf.reduce_sum(weights, axis=1)  # <- here


@tf.function
def step(x, lengths, y):
    with tf.GradientTape() as tape:
        pooled = masked_mean(projection(x), lengths)
        loss = tf.reduce_mean((head(pooled) - y) ** 2)
    variables = projection.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # <- asked
    return loss


projection.build((None, 5, 6)), head.build((None, 4))
optimizer.build(projection.trainable_variables + head.trainable_variables)
loss = step(tf.constant(padded), tf.constant(lengths), tf.ones((4, 1)))
