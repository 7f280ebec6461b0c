# expect: GT320
# cause: the derivative of softplus is the sigmoid, and the rule gives the tanh
# wrong: not np.allclose(grad, reference, atol=1e-4)
# cure: upstream * tf.tanh(x) -> upstream * tf.sigmoid(x)
import tensorflow as tf


@tf.custom_gradient
def softplus(x):
    value = tf.maximum(x, 0.0) + tf.math.log1p(tf.exp(-tf.abs(x)))

    def grad(upstream):
        return upstream * tf.tanh(x)  # <- here

    return value, grad


tf.random.set_seed(35)
w = tf.Variable(tf.random.normal((6,)))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(softplus(w) ** 2)
grad = tape.gradient(loss, w)  # <- asked
with tf.GradientTape() as check:
    exact = tf.reduce_sum(tf.nn.softplus(w) ** 2)
reference = check.gradient(exact, w)
