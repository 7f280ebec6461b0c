import tensorflow as tf

w = tf.Variable([1.0, 2.0])
x = tf.constant([3.0, 4.0])
history = []


@tf.function
def step(x):
    loss = tf.reduce_sum((w * x) ** 2)
    tf.print(loss)
    return loss


with tf.GradientTape() as tape:
    step(x)
    mean = 0.5 * step(x)
grad = tape.gradient(mean, w)
assert grad is not None
