# expect: GT301
# cause: the weights of the outputs are (5,), the outputs are (5, 1)
# wrong: raises InvalidArgumentError
# cure: tf.constant(importance) -> tf.constant(importance)[:, None]
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
X = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
importance = np.array([1.0, 1.0, 0.0, 0.0, 2.0], dtype="float32")
W = tf.Variable(tf.random.normal((3, 1)))


def weighted_gradient():
    with tf.GradientTape() as tape:
        out = tf.matmul(X, W)
    upstream = tf.constant(importance)  # <- here
    return tape.gradient(out, W, output_gradients=upstream)  # <- here


g = weighted_gradient()  # <- asked
W.assign_sub(0.1 * g)
