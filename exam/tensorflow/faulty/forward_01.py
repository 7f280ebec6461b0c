# expect: GT401
# cause: a probability underflows to 0 and its logarithm is minus infinity, times 0 it is NaN
# wrong: not np.isfinite(float(loss))
# cure: tf.math.log(probs) -> tf.math.log(probs + 1e-7)
import numpy as np
import tensorflow as tf

x = tf.constant(np.array([[120.0, -30.0], [80.0, 95.0], [-60.0, 70.0]]), tf.float32)
targets = tf.one_hot([0, 1, 1], 2)
W = tf.Variable([[1.0, -1.0], [0.5, 0.5]])

for epoch in range(3):
    with tf.GradientTape() as tape:
        probs = tf.nn.softmax(x @ W)
        loss = -tf.reduce_mean(tf.reduce_sum(targets * tf.math.log(probs), axis=1))  # <- here
    grad = tape.gradient(loss, W)  # <- asked
    W.assign_sub(0.01 * grad)
    print(epoch, loss.numpy())
