"""The Variable is assigned in place with assign_sub; a copy of it is a tensor for a picture."""

import tensorflow as tf

w = tf.Variable([2.0, 3.0])
path = []
for _ in range(12):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    grad = tape.gradient(loss, w)
    w.assign_sub(0.1 * grad)
    path.append(w.numpy())
assert path[-1][0] < path[0][0]
