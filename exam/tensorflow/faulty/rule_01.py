# expect: GT320
# cause: the gradient of the custom leaky relu forgets to multiply by the upstream gradient
# wrong: not np.allclose(g_custom, g_builtin, atol=1e-5)
# cure: return tf.where(x > 0, 1.0, 0.1) -> return upstream * tf.where(x > 0, 1.0, 0.1)
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def leaky(x):
    y = tf.where(x > 0, x, 0.1 * x)

    def grad(upstream):
        return tf.where(x > 0, 1.0, 0.1)  # <- here

    return y, grad


x = tf.Variable(np.linspace(-1, 1, 8), dtype=tf.float32)
with tf.GradientTape(persistent=True) as tape:
    custom = tf.reduce_sum(leaky(x) ** 2)
    builtin = tf.reduce_sum(tf.nn.leaky_relu(x, alpha=0.1) ** 2)
g_custom = tape.gradient(custom, x)  # <- asked
g_builtin = tape.gradient(builtin, x)
print(g_custom.numpy(), g_builtin.numpy())
