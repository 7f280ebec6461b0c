# expect: GT302
# cause: the gradient function of the custom operation forgets to sum over the batch, so the shape is that of x
# wrong: raises InvalidArgumentError
# cure: return upstream * scale, upstream * x -> return upstream * scale, tf.reduce_sum(upstream * x, axis=0)
import tensorflow as tf


@tf.custom_gradient
def scaled(x, scale):
    def grad(upstream):
        return upstream * scale, upstream * x  # <- here

    return x * scale, grad


tf.random.set_seed(34)
x = tf.random.normal((10, 4))
scale = tf.Variable(tf.ones(4))
optimizer = tf.keras.optimizers.SGD(0.1)
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(scaled(x, scale) ** 2)
    grad = tape.gradient(loss, scale)  # <- asked
    optimizer.apply_gradients([(grad, scale)])  # <- asked
