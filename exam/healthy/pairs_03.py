"""A column made by an index with None is copied, cast, transposed twice and stored under names before it is used."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(1)
x, y = rng.normal(size=6), rng.normal(size=6)


def table(v):
    column = v[:, None]
    column = column.copy()
    column = np.transpose(np.transpose(column))
    column = np.asarray(column).astype(float) if isinstance(column, np.ndarray) else column.astype(float)
    scaled = np.ascontiguousarray(column) if isinstance(column, np.ndarray) else column
    return np.sum(np.exp(-((scaled - y) ** 2)))


g = gt.grad(table)(x)
expected = np.sum(-2 * (x[:, None] - y) * np.exp(-((x[:, None] - y) ** 2)), axis=1)
assert np.allclose(g, expected)
