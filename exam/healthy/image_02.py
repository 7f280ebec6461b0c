"""Denoising with total variation, smoothed so that it has a derivative everywhere."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
clean = np.zeros((8, 8))
clean[2:6, 2:6] = 1.0
noisy = clean + 0.2 * rng.normal(size=(8, 8))


def objective(u):
    dx, dy = u[1:, :-1] - u[:-1, :-1], u[:-1, 1:] - u[:-1, :-1]
    return 0.5 * np.sum((u - noisy) ** 2) + 0.2 * np.sum(np.sqrt(dx**2 + dy**2 + 1e-2))


u = noisy.copy()
for _ in range(60):
    u = u - 0.05 * gt.grad(objective)(u)
assert np.mean((u - clean) ** 2) < 0.9 * np.mean((noisy - clean) ** 2)
