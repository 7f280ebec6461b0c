import tensorflow as tf

x = tf.constant([[1.0, 2.0], [3.0, 4.0]])


w = tf.Variable([[1.0], [2.0]])


@tf.function
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    return tape.gradient(loss, w)


grad = step()
again = step()
assert grad.shape == (2, 1)
