"""One step of MAML: the adapted weights are tensors computed from the Variable, so the gradient flows."""

import numpy as np
import tensorflow as tf

meta = tf.Variable([[0.1], [0.2]])
x = tf.constant(np.random.default_rng(0).normal(size=(10, 2)), tf.float32)
y = x @ tf.constant([[1.0], [-1.0]])
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        inner_loss = tf.reduce_mean((x[:5] @ meta - y[:5]) ** 2)
    fast = meta - 0.1 * inner.gradient(inner_loss, meta)
    outer_loss = tf.reduce_mean((x[5:] @ fast - y[5:]) ** 2)
g = outer.gradient(outer_loss, meta)
assert g.shape == (2, 1)
assert np.any(g.numpy())
