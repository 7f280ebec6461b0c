# expect: GT401
# cause: the loss is summed in half precision and exceeds its largest number
# wrong: not np.isfinite(loss.numpy())
# cure: tf.float16 -> tf.float32
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = tf.constant(rng.normal(size=(500, 4)) * 10, tf.float32)
w = tf.Variable(tf.ones((4, 1)))
with tf.GradientTape() as tape:
    out = tf.cast(x @ w, tf.float16)
    loss = tf.reduce_sum(out * out)  # <- here
grad = tape.gradient(loss, w)  # <- asked
