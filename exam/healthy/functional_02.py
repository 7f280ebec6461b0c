"""The losses of the library with matching shapes, on columns and on vectors."""

import numpy as np

import gradtape as gt
from gradtape.nn import functional as F

rng = np.random.default_rng(1)
X, y = rng.normal(size=(30, 3)), rng.normal(size=30)


def total(w):
    pred = X @ w
    return F.mse_loss(pred, y) + F.huber_loss(pred[:, None], y[:, None]) + F.l1_loss(pred, y)


w = np.zeros(3)
start = float(total(w))
for _ in range(20):
    w = w - 0.05 * gt.grad(total)(w)
assert float(total(w)) < start
