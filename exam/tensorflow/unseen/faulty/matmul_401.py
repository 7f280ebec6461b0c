# expect: GT111 or GT112
# cause: tensordot sums over the last axis of the states and the first of the weights, which has another length
# wrong: raises InvalidArgumentError
# cure: tf.tensordot(states, w, axes=1) -> tf.tensordot(states, w, axes=[[2], [1]])
import tensorflow as tf

tf.random.set_seed(0)
states = tf.random.normal((4, 7, 12))
w = tf.Variable(tf.random.normal((5, 12)))
with tf.GradientTape() as tape:
    projected = tf.tensordot(states, w, axes=1)  # <- here
    loss = tf.reduce_mean(projected**2)
grad = tape.gradient(loss, w)
