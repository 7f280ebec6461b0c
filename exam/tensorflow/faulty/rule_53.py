# expect: GT302
# cause: the rule returns the gradient for the mean's input as one number instead of one for each element
# wrong: raises InvalidArgumentError
# cure: return dy / size -> return dy / size * tf.ones_like(x)
import tensorflow as tf


@tf.custom_gradient
def my_mean(x):
    size = tf.cast(tf.size(x), tf.float32)

    def grad(dy):
        return dy / size  # <- here

    return tf.reduce_sum(x) / size, grad


pixels = tf.Variable(tf.random.stateless_normal((36,), seed=(1, 2)))
with tf.GradientTape() as tape:
    picture = tf.reshape(pixels, (6, 6))
    brightness = my_mean(picture)
g = tape.gradient(brightness, pixels)  # <- asked
