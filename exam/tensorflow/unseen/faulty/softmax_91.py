# expect: GT501
# cause: the softmax is taken over the examples, and the loss picks the probability of each example's class
# wrong: not np.allclose(tf.reduce_sum(p, axis=1), 1.0, atol=1e-4)
# cure: tf.nn.softmax(x @ w, axis=0) -> tf.nn.softmax(x @ w, axis=1)
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
x = tf.random.normal((24, 4))
labels = tf.random.uniform((24,), 0, 3, tf.int32)
w = tf.Variable(tf.random.normal((4, 3)))
for _ in range(3):
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(x @ w, axis=0)  # <- here
        chosen = tf.gather(p, labels, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(chosen))
    w.assign_sub(0.1 * tape.gradient(loss, w))
