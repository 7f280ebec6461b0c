# expect: GT404
# cause: incomes in thousands saturate the tanh of every unit, where the slope is exactly zero
# wrong: not np.any(grads[0].numpy())
# cure: layer(income) -> layer(income / 50000.0)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
income = np.random.default_rng(0).uniform(20000, 90000, size=(32, 2)).astype("float32")
spending = (income.sum(axis=1, keepdims=True) / 1e5).astype("float32")
first = tf.Variable(tf.ones([2, 4]) * tf.constant([[0.5, -0.3, 0.2, 0.4]]))
second = tf.Variable(tf.constant([[0.1], [0.2], [-0.3], [0.2]]))


def layer(inputs):
    return tf.tanh(inputs @ first)  # <- here


for _ in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((layer(income) @ second - spending) ** 2)
    grads = tape.gradient(loss, [first])  # <- asked
    first.assign_sub(0.1 * grads[0])
