"""Columns against columns, and a vector against a vector: nothing is stretched by accident."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
X = rng.normal(size=(30, 2))
y = X @ np.array([1.0, -1.0])
w = gt.Variable(np.zeros((2, 1)))
for _ in range(200):
    with gt.GradientTape() as tape:
        pred = X @ w
        loss = np.mean((pred - y[:, None]) ** 2) + np.mean((pred[:, 0] - y) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
assert np.allclose(w.numpy()[:, 0], [1.0, -1.0], atol=1e-3)
