# expect: GT201 because GT206
# cause: the fast weights are written with assign, which carries no gradient back to the initial weights
# wrong: raises ValueError
# cure: fast.assign(meta - 0.1 * inner_grad)  # <- here\n        outer_loss = task(fast, 2.0) -> outer_loss = task(meta - 0.1 * inner_grad, 2.0)
import tensorflow as tf

meta = tf.Variable(0.5)
fast = tf.Variable(0.0)
opt = tf.keras.optimizers.SGD(0.05)


def task(w, slope):
    x = tf.constant([0.0, 1.0, 2.0])
    return tf.reduce_mean((w * x - slope * x) ** 2)


for _ in range(2):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner_loss = task(meta, 1.5)
        inner_grad = inner.gradient(inner_loss, meta)
        fast.assign(meta - 0.1 * inner_grad)  # <- here
        outer_loss = task(fast, 2.0)
    grad = outer.gradient(outer_loss, meta)  # <- asked
    opt.apply_gradients([(grad, meta)])  # <- asked
