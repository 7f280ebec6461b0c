"""A projection onto the simplex with sort and cumsum; columns and rows have the same length."""

import numpy as np

import gradtape as gt


def project(v):
    u = np.sort(v)[::-1]
    mean = (np.cumsum(u) - 1.0) / np.arange(1, len(v) + 1)
    k = int(np.sum((u > mean) * 1.0))
    return np.maximum(v - mean[k - 1], 0.0)


v = np.array([0.9, 0.3, -0.2])
p = project(v)
g = gt.grad(lambda v: np.sum(project(v) * np.array([1.0, 2.0, 3.0])))(v)
assert np.isclose(p.sum(), 1.0)
assert np.allclose(g, [-0.5, 0.5, 0.0])
