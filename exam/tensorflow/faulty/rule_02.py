# expect: GT302
# cause: the gradient of the bias is not summed over the batch: it is (16, 4) for a bias of (4,)
# wrong: g_bias.shape != bias.shape
# cure: return dy, dy -> return dy, tf.reduce_sum(dy, axis=0)
import tensorflow as tf


@tf.custom_gradient
def add_bias(x, b):
    def grad(dy):
        return dy, dy  # <- here

    return x + b, grad


tf.random.set_seed(1)
inputs = tf.random.normal((16, 3))
kernel = tf.Variable(tf.random.normal((3, 4)))
bias = tf.Variable(tf.zeros((4,)))
with tf.GradientTape() as tape:
    out = tf.nn.relu(add_bias(inputs @ kernel, bias))
    loss = tf.reduce_mean(out)
g_kernel, g_bias = tape.gradient(loss, [kernel, bias])  # <- asked
print(g_kernel.shape, g_bias.shape)
