"""One output unit for each example, subtracted from a mean over all of them."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(13)
X = rng.normal(size=(12, 4))


def decorrelated(w):
    z = X @ w
    z = z - z.mean(axis=0, keepdims=True)
    covariance = z.T @ z / 12
    return np.sum((covariance - np.eye(2)) ** 2)


w = rng.normal(size=(4, 2))
start = decorrelated(w)
for _ in range(50):
    w = w - 0.02 * gt.grad(decorrelated)(w)
assert decorrelated(w) < start
