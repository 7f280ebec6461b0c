# expect: GT501
# cause: softmax normalises over the batch (axis 0) instead of the classes
# wrong: not np.allclose(tf.reduce_sum(probs, axis=1), 1.0)
# cure: tf.nn.softmax(scores, axis=0) -> tf.nn.softmax(scores, axis=1)
import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(50, 6)).astype("float32")
y = rng.integers(0, 4, size=50)
W = tf.Variable(rng.normal(scale=0.1, size=(6, 4)), dtype=tf.float32)

for step in range(10):
    with tf.GradientTape() as tape:
        scores = tf.matmul(x, W)
        probs = tf.nn.softmax(scores, axis=0)  # <- here
        picked = tf.gather(probs, y, axis=1, batch_dims=1)
        loss = -tf.reduce_mean(tf.math.log(picked))
    W.assign_sub(0.5 * tape.gradient(loss, W))
print(loss.numpy())
