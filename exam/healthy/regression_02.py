"""Columns all the way: X (n, d), W (d, 1), Y (n, 1)."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
X = rng.normal(size=(50, 2))
Y = X @ np.array([[2.0], [-1.0]]) + 0.3
W = gt.tensor(np.zeros((2, 1)), requires_grad=True)
b = gt.tensor(np.zeros(1), requires_grad=True)

losses = []
for _ in range(60):
    pred = X @ W + b
    loss = ((pred - Y) ** 2).mean()
    loss.backward()
    with gt.no_grad():
        W -= 0.2 * W.grad
        b -= 0.2 * b.grad
    W.zero_grad()
    b.zero_grad()
    losses.append(loss.item())
assert losses[-1] < 1e-3 * losses[0]
