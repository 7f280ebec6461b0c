# expect: GT401
# cause: the logarithm of a sigmoid that is exactly zero for large negative numbers
# wrong: not np.isfinite(loss)
# cure: tf.math.log(p) -> tf.math.log(p + 1e-7)
# cure: tf.math.log(1 - p) -> tf.math.log(1 - p + 1e-7)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
w = tf.Variable(tf.random.normal((3, 1)))
x = tf.random.normal((20, 3)) * 300
y = tf.cast(tf.random.uniform((20, 1)) > 0.5, tf.float32)
with tf.GradientTape() as tape:
    p = tf.sigmoid(x @ w)
    loss = -tf.reduce_mean(y * tf.math.log(p) + (1 - y) * tf.math.log(1 - p))  # <- here
g = tape.gradient(loss, w)  # <- asked
