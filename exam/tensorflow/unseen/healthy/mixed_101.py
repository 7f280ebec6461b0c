"""Half precision in the layers and float32 in the loss."""

import tensorflow as tf

tf.random.set_seed(0)
x, y = tf.random.normal((40, 4)), tf.random.normal((40, 1))
w = tf.Variable(tf.zeros((4, 1)))
for _ in range(5):
    with tf.GradientTape() as tape:
        out = tf.cast(x, tf.float16) @ tf.cast(w, tf.float16)
        loss = tf.reduce_mean((tf.cast(out, tf.float32) - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
assert float(loss) > 0
