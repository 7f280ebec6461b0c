"""Linear regression by hand with flat predictions and flat targets, updated by assign_sub."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2)).astype("float32")
y = (X @ [2.0, -1.0] + 0.5).astype("float32")
w = tf.Variable(tf.zeros(2))
b = tf.Variable(0.0)

for step in range(100):
    with tf.GradientTape() as tape:
        prediction = tf.linalg.matvec(X, w) + b
        loss = tf.reduce_mean(tf.square(prediction - y))
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.2 * dw)
    b.assign_sub(0.2 * db)
assert np.allclose(w.numpy(), [2.0, -1.0], atol=1e-2)
assert abs(float(b) - 0.5) < 1e-2
