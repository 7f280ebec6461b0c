"""A mixture of softmaxes, whose logarithm goes to nll_loss."""

import numpy as np

import gradtape as gt
import gradtape.nn.functional as F

rng = np.random.default_rng(0)
x, y = rng.normal(size=(8, 3)), rng.integers(0, 4, size=8)


def loss(w):
    p = 0.3 * F.softmax(x @ w[0], axis=1) + 0.7 * F.softmax(x @ w[1], axis=1)
    return F.nll_loss(np.log(p), y)


w = rng.normal(size=(2, 3, 4))
assert loss(w - 0.1 * gt.grad(loss)(w)) < loss(w)
