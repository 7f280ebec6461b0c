"""Least squares with a Variable and the tape."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(100, 3))
true = np.array([1.0, -2.0, 0.5])
y = X @ true

w = gt.Variable(np.zeros(3))
for _ in range(150):
    with gt.GradientTape() as tape:
        loss = np.mean((X @ w - y) ** 2)
    w.assign_sub(0.2 * tape.gradient(loss, w))
assert np.allclose(w.numpy(), true, atol=1e-3)
