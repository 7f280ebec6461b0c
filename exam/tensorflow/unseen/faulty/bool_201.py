# expect: GT314 or GT313 or GT312 or GT310
# cause: in a graph that autograph does not rewrite, a comparison of tensors has no truth yet
# wrong: raises Exception
# cure: if tf.reduce_max(tf.abs(w)) > 1.0:  # <- here\n        loss = loss * 0.5\n    return loss -> return tf.where(tf.reduce_max(tf.abs(w)) > 1.0, loss * 0.5, loss)
import tensorflow as tf

w = tf.Variable([0.5, -2.0])


@tf.function(autograph=False)
def objective():
    loss = tf.reduce_sum(w**2)
    if tf.reduce_max(tf.abs(w)) > 1.0:  # <- here
        loss = loss * 0.5
    return loss


with tf.GradientTape() as tape:
    value = objective()  # <- asked
grad = tape.gradient(value, w)
