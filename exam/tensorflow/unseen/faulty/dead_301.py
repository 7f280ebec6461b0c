# expect: GT404
# cause: the mean of small squares is computed in half precision, where its gradient is below the smallest number
# wrong: not np.any(grad.numpy())
# cure: tf.cast(x * w - y, tf.float16) -> tf.cast(x * w - y, tf.float32)
import tensorflow as tf

tf.random.set_seed(0)
x = tf.random.normal((8192,)) * 1e-2
y = 1.001 * x
w = tf.Variable(1.0)
with tf.GradientTape() as tape:
    error = tf.cast(x * w - y, tf.float16)  # <- here
    loss = tf.reduce_mean(error**2)  # <- here
grad = tape.gradient(loss, w)  # <- asked
