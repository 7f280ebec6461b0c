"""Momentum by hand: what is left of the gradient is scaled down after the step, and added to."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
w = gt.tensor(np.zeros(2), requires_grad=True)
for _ in range(5):
    np.mean((X @ w - y) ** 2).backward()
    with gt.no_grad():
        w -= 0.05 * w.grad
    w.grad *= 0.9  # momentum, by hand
print(w)
assert np.mean((X @ w - y) ** 2) < np.mean(y**2)
