"""Scaled dot product attention with a causal mask."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
T, D = 6, 4
x = rng.normal(size=(T, D))
mask = np.where(np.tril(np.ones((T, T))) > 0, 0.0, -1e9)


def attend(w):
    q, k, v = x @ w[0], x @ w[1], x @ w[2]
    weights = gt.softmax(q @ k.T / np.sqrt(D) + mask, axis=-1)
    return np.sum((weights @ v)[0] ** 2)


w = rng.normal(size=(3, D, D))
g = gt.grad(attend)(w)
assert np.allclose(g[0], 0.0)
assert np.any(g[2] != 0.0)
