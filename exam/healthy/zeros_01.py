"""Relu with some units below zero, and a clip with some elements inside: gradients are small, not lost."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(9)
X = rng.normal(size=(40, 3))


def loss(W):
    hidden = gt.relu(X @ W)
    return np.mean(np.clip(hidden, 0.0, 1.0))


g = gt.grad(loss)(rng.normal(size=(3, 6)))
assert np.any(g)
