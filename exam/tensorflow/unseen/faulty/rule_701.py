# expect: GT304 or GT314 or GT302
# cause: the function uses a variable, and its gradient function does not take `variables`
# wrong: raises TypeError
# cure: def grad(dy): -> def grad(dy, variables=None):
# cure: return dy * tf.where(x > 0, 1.0, slope)  # <- here -> return dy * tf.where(x > 0, 1.0, slope), [tf.reduce_sum(dy * tf.minimum(x, 0.0))]
import tensorflow as tf

slope = tf.Variable(0.1, name="slope")


@tf.custom_gradient
def leaky(x):
    def grad(dy):  # <- here
        return dy * tf.where(x > 0, 1.0, slope)  # <- here

    return tf.maximum(x, 0.0) + slope * tf.minimum(x, 0.0), grad


tf.random.set_seed(1)
x = tf.random.normal((10, 3))
w = tf.Variable(tf.random.normal((3, 2)))
with tf.GradientTape() as tape:
    loss = tf.reduce_mean(leaky(tf.matmul(x, w)) ** 2)  # <- here
gradients = tape.gradient(loss, [w, slope])  # <- here
