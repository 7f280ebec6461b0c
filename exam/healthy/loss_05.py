"""A focal loss with probabilities clipped away from 0 and 1."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
X = rng.normal(size=(30, 2))
y = (X[:, 0] > 0).astype(float)


def focal(w):
    p = np.clip(gt.sigmoid(X @ w), 1e-7, 1 - 1e-7)
    hit = y * p + (1 - y) * (1 - p)
    return -np.mean((1 - hit) ** 2 * np.log(hit))


w = np.zeros(2)
for _ in range(50):
    w = w - 2.0 * gt.grad(focal)(w)
assert focal(w) < 0.05
