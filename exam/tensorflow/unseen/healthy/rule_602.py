import tensorflow as tf


@tf.custom_gradient
def scaled(x, scale):
    def grad(upstream):
        return upstream * scale, tf.reduce_sum(upstream * x)

    return x * scale, grad


weights = tf.Variable([0.3, -0.7, 1.1])
scale = tf.Variable(2.0)


def objective():
    stretched = scaled(weights * 1.0, scale * 1.0)
    return tf.reduce_sum(tf.sin(stretched))


with tf.GradientTape() as tape:
    loss = objective()
slopes = tape.gradient(loss, [weights, scale])
assert slopes[1] is not None
