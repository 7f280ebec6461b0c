# expect: GT210 or GT305 or GT201 because GT210
# cause: the loss is turned into a number before its gradient is asked for
# wrong: raises AttributeError
# cure: tape.gradient(loss.numpy(), w) -> tape.gradient(loss, w)
import tensorflow as tf

w = tf.Variable([1.0, -2.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w**2)
grad = tape.gradient(loss.numpy(), w)  # <- here
w.assign_sub(0.1 * grad)
