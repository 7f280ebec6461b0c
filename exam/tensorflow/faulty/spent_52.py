# expect: GT308
# cause: the gradient is asked once for the weights and once for the bias, from one tape
# wrong: raises RuntimeError
# cure: dw = tape.gradient(loss, w)\n    db = tape.gradient(loss, b) -> dw, db = tape.gradient(loss, [w, b])
import tensorflow as tf

w, b = tf.Variable(1.0), tf.Variable(0.0)
xs, ys = tf.constant([1.0, 2.0, 3.0]), tf.constant([3.0, 5.0, 7.0])


def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(w * xs + b - ys))
    dw = tape.gradient(loss, w)
    db = tape.gradient(loss, b)  # <- here
    w.assign_sub(0.05 * dw)
    b.assign_sub(0.05 * db)
    return loss


for _ in range(10):
    step()  # <- asked
