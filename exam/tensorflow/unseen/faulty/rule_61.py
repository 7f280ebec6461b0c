# expect: GT320
# cause: the rule of the stable softplus returns 1 - sigmoid(x) instead of sigmoid(x)
# wrong: not np.allclose(slope.numpy(), tf.sigmoid(x).numpy(), atol=1e-4)
# cure: dy / (1.0 + e) -> dy * e / (1.0 + e)
import numpy as np
import tensorflow as tf


@tf.custom_gradient
def soft_plus(x):
    e = tf.exp(x)

    def grad(dy):
        return dy / (1.0 + e)  # <- here

    return tf.math.log1p(e), grad


x = tf.constant([-1.0, 0.5, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    total = soft_plus(x)
slope = tape.gradient(total, x)  # <- asked
