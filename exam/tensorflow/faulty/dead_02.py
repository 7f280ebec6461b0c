# expect: GT404
# cause: tf.sign makes the output -1 or 1 and its derivative is zero everywhere
# wrong: not np.any(grads[0])
# cure: tf.sign(features @ weights + bias) -> tf.tanh(features @ weights + bias)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
features = rng.normal(size=(40, 2)).astype("float32")
labels = np.where(features[:, :1] > features[:, 1:], 1.0, -1.0).astype("float32")
weights = tf.Variable(rng.normal(size=(2, 1)), dtype=tf.float32)
bias = tf.Variable([0.1])


def perceptron(features):
    return tf.sign(features @ weights + bias)  # <- here


for epoch in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((perceptron(features) - labels) ** 2)
    grads = tape.gradient(loss, [weights, bias])  # <- asked
    weights.assign_sub(0.1 * grads[0])
    bias.assign_sub(0.1 * grads[1])
