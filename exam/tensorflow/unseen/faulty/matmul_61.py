# expect: GT111
# cause: the item factors are not transposed in the product with the user factors
# wrong: raises InvalidArgumentError
# cure: tf.linalg.matmul(users, items) -> tf.linalg.matmul(users, items, transpose_b=True)
import numpy as np
import tensorflow as tf

ratings = np.random.default_rng(1).integers(1, 6, size=(20, 30)).astype("float32")
users = tf.Variable(tf.random.normal((20, 8), stddev=0.1))
items = tf.Variable(tf.random.normal((30, 8), stddev=0.1))
step = tf.keras.optimizers.SGD(0.05)


def scores():
    return tf.linalg.matmul(users, items)  # <- here


for sweep in range(3):
    with tf.GradientTape() as tape:
        error = tf.reduce_mean((scores() - ratings) ** 2)  # <- asked
    step.apply_gradients(zip(tape.gradient(error, [users, items]), [users, items]))
