# expect: GT304 or GT314
# says: variables
# cause: the function uses a variable, and its rule does not take the keyword variables
# wrong: raises TypeError
# cure: def backward(upstream): -> def backward(upstream, variables=None):
# cure: return upstream * scale -> return upstream * scale, [tf.reduce_sum(upstream * x)]
import tensorflow as tf

scale = tf.Variable(2.0)


@tf.custom_gradient
def scaled(x):
    def backward(upstream):  # <- here
        return upstream * scale

    return x * scale, backward


x = tf.constant([1.0, 2.0, 3.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(scaled(x) ** 2)  # <- here
grads = tape.gradient(loss, [scale])
