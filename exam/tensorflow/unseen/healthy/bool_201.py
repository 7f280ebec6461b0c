import tensorflow as tf

w = tf.Variable([0.5, -2.0])


@tf.function(autograph=False)
def objective():
    loss = tf.reduce_sum(w**2)
    return tf.where(tf.reduce_max(tf.abs(w)) > 1.0, loss * 0.5, loss)


with tf.GradientTape() as tape:
    value = objective()
grad = tape.gradient(value, w)
assert grad is not None
