"""Euler steps of exponential decay; the rate is fitted to a path."""

import numpy as np

import gradtape as gt

dt, steps = 0.05, 40
measured = 2.0 * (1 - dt * 0.7) ** np.arange(steps + 1)


def misfit(rate):
    y, path = 2.0, [rate * 0.0 + 2.0]
    for _ in range(steps):
        y = y - dt * rate * y
        path.append(y)
    return np.sum((np.stack(path) - measured) ** 2)


rate = 0.2
for _ in range(60):
    rate = rate - 0.02 * gt.grad(misfit)(rate)
assert abs(rate - 0.7) < 1e-3
