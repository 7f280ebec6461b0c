"""Gradients for each example by vmap, against a loop."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(5)
X, y, w = rng.normal(size=(6, 3)), rng.normal(size=6), rng.normal(size=3)
loss = lambda w, x, t: (x @ w - t) ** 2
batched = gt.vmap(gt.grad(loss), in_axes=(None, 0, 0))(w, X, y)
looped = np.stack([gt.grad(loss)(w, a, b) for a, b in zip(X, y, strict=True)])
assert np.allclose(batched, looped)
