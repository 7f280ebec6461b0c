# expect: GT402
# cause: the critic's gradient is zero for one example, where the norm in the penalty has no slope
# wrong: not np.isfinite(grads[0].numpy()).all()
# cure: tf.norm(slopes, axis=1) -> tf.sqrt(tf.reduce_sum(slopes**2, axis=1) + 1e-12)
import numpy as np
import tensorflow as tf

tf.random.set_seed(0)
w1 = tf.Variable(tf.abs(tf.random.normal((4, 8))))
w2 = tf.Variable(tf.random.normal((8, 1)))
x = tf.concat([tf.random.normal((9, 4)), -tf.ones((1, 4))], axis=0)
with tf.GradientTape() as tape:
    with tf.GradientTape() as inner:
        inner.watch(x)
        scores = tf.nn.relu(x @ w1) @ w2
    slopes = inner.gradient(scores, x)
    norms = tf.norm(slopes, axis=1)  # <- here
    penalty = tf.reduce_mean((norms - 1.0) ** 2)
grads = tape.gradient(penalty, [w1, w2])  # <- asked
