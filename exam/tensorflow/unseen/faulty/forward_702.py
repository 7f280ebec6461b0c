# expect: GT401
# cause: a batch without positive pairs has no distance to average, and the mean of nothing is NaN
# wrong: not np.isfinite(losses[-1])
# cure: tf.reduce_mean(tf.boolean_mask(distances, same)) -> tf.reduce_sum(tf.boolean_mask(distances, same)) / tf.maximum(tf.reduce_sum(tf.cast(same, tf.float32)), 1.0)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(20)
embed = tf.keras.Sequential([tf.keras.Input((6,)), tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(3)])
optimizer = tf.keras.optimizers.Adam(1e-3)
left = np.random.randn(3, 8, 6).astype("float32")
right = np.random.randn(3, 8, 6).astype("float32")
pairs = np.array([[1, 0, 1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 0]])

losses = []
for a, b, pair in zip(left, right, pairs):
    same = tf.constant(pair == 1)
    with tf.GradientTape() as tape:
        distances = tf.reduce_sum((embed(a) - embed(b)) ** 2, axis=1)
        pull = tf.reduce_mean(tf.boolean_mask(distances, same))  # <- here
        push = tf.reduce_mean(tf.nn.relu(1.0 - tf.boolean_mask(distances, ~same)))
        loss = pull + push
    optimizer.apply_gradients(zip(tape.gradient(loss, embed.trainable_variables), embed.trainable_variables))
    losses.append(float(loss))
