"""A masked loss over padded sequences; the mask has many zeros."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(9)
x, lengths = rng.normal(size=(4, 6, 3)), np.array([6, 2, 1, 4])
mask = (np.arange(6) < lengths[:, None]).astype(float)
y = x.sum(axis=-1)


def loss(w):
    error = (x @ w - y) ** 2
    return np.sum(error * mask) / np.sum(mask)


w = np.zeros(3)
for _ in range(200):
    w = w - 0.2 * gt.grad(loss)(w)
assert np.allclose(w, 1.0, atol=1e-2)
