# expect: GT201 because GT205 or GT203
# cause: the clipped weights are a tensor under the name of the Variable, so that the second step has no gradient
# wrong: grad is None
# cure: w = tf.clip_by_value(w - 0.1 * grad, -1.0, 1.0) -> w.assign(tf.clip_by_value(w - 0.1 * grad, -1.0, 1.0))
import tensorflow as tf

w = tf.Variable([2.0, 3.0])
for _ in range(2):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    grad = tape.gradient(loss, w)  # <- asked
    if grad is None:
        break
    w = tf.clip_by_value(w - 0.1 * grad, -1.0, 1.0)  # <- here
