"""Keys in columns: the softmax over axis 0 is right, as the values are summed over axis 0."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
keys, queries, values = rng.normal(size=(6, 3)), rng.normal(size=(4, 3)), rng.normal(size=(6, 2))


def loss(w):
    weights = gt.softmax(keys @ w @ queries.T, axis=0)
    context = weights.T @ values
    return np.sum(context**2)


assert gt.gradcheck(loss, rng.normal(size=(3, 3)))
