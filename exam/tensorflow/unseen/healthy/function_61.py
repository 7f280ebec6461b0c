"""tf.function with an input signature and a loop over a data set inside."""

import tensorflow as tf

w = tf.Variable(tf.zeros([3, 1]))
data = tf.data.Dataset.from_tensor_slices((tf.random.stateless_normal([30, 3], seed=[0, 1]), tf.ones([30, 1]))).batch(
    10
)


@tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([None, 1])])
def step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


losses = [float(step(x, y)) for _ in range(4) for x, y in data]
assert losses[-1] <= losses[0] + 0.5
