"""Gradients of four parts of a batch collected for one step, and a gradient looked at while it is."""

import numpy as np

import gradtape as gt

X = np.random.default_rng(0).normal(size=(40, 2))
y = X @ np.array([1.0, 2.0])
w = gt.Variable(np.zeros(2)).requires_grad_()
sizes = []
for step in range(160):
    rows = slice(10 * (step % 4), 10 * (step % 4) + 10)
    (np.mean((X[rows] @ w - y[rows]) ** 2) / 4).backward()
    sizes.append(float(np.linalg.norm(w.grad)))
    if step % 4 == 3:
        w.assign_sub(0.4 * w.grad)
        w.zero_grad()
assert np.allclose(w.numpy(), [1.0, 2.0], atol=0.01)
