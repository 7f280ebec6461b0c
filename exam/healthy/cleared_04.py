"""Gradients of four batches add up, are clipped in place, used once and cleared."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
w = gt.tensor(np.zeros(2), requires_grad=True)
for _ in range(3):
    for _ in range(4):
        batch = rng.normal(size=(5, 2))
        (np.mean((batch @ w - 1.0) ** 2) / 4).backward()
    w.grad *= min(1.0, 1.0 / float(np.sqrt(np.sum(w.grad**2))))
    with gt.no_grad():
        w -= 0.1 * w.grad
    w.grad = None
print(w)
assert np.all(np.isfinite(w.numpy()))
