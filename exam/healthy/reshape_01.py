"""Axes that are joined and split, an axis of length 1 that moves, heads, and a flat vector in another shape."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x, W = rng.normal(size=(2, 4, 8)), gt.Variable(rng.normal(size=(8, 8)))
with gt.GradientTape() as tape:
    tokens = x @ W
    heads = tokens.reshape(8, 4, 2)
    first = tokens[:, :1].reshape(1, 2, 8)
    table = W.ravel().reshape(16, 4).ravel().reshape(4, 16)
    swapped = np.transpose(tokens, (0, 2, 1)).reshape(2, 8, 4)
    loss = (heads**2).mean() + (first**2).mean() + (table**2).mean() + (swapped**2).mean()
gradient = tape.gradient(loss, W)
assert gradient.shape == (8, 8)
