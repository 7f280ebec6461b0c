"""The heat equation with slices, fitted to its own solution by the diffusivity."""

import numpy as np

import gradtape as gt

x = np.linspace(0, 1, 21)
start = np.exp(-50 * (x - 0.5) ** 2)


def diffuse(kappa):
    u = start
    for _ in range(12):
        interior = u[1:-1] + kappa * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([np.zeros(1), interior, np.zeros(1)])
    return u


target = diffuse(0.2)
loss = lambda k: np.sum((diffuse(k) - target) ** 2)
k = 0.1
for _ in range(25):
    k = k - 0.05 * gt.grad(loss)(k)
assert abs(k - 0.2) < 1e-2
