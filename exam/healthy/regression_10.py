"""L1 regression by subgradients, with early stopping on the value of the loss."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(8)
X = rng.normal(size=(60, 4))
y = X @ np.array([1.0, 0.0, -1.0, 0.0])
w = gt.tensor(np.zeros(4), requires_grad=True)
best, patience = float("inf"), 0
for step in range(200):
    loss = np.abs(X @ w - y).mean() + 0.01 * np.abs(w).sum()
    if float(loss) < best - 1e-4:
        best, patience = float(loss), 0
    else:
        patience += 1
    if patience > 5:
        break
    loss.backward()
    w = (w - 0.3 / (1 + 0.1 * step) * w.grad).detach().requires_grad_()
assert best < 0.25
