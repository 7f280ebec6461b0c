"""A user's buffer is filled anew after each gradient has been taken."""

import numpy as np

import gradtape as gt

data = np.random.default_rng(1).normal(size=(4, 6, 3))
batch = np.empty((6, 3))
w = gt.Variable(np.ones(3))
for chunk in data:
    batch[:] = chunk
    with gt.GradientTape() as tape:
        loss = np.sum((batch @ w) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
assert np.all(np.isfinite(w.numpy()))
