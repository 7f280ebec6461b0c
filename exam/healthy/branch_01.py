"""Roots of what is positive: the branch that is not taken has an infinite slope."""

import numpy as np

import gradtape as gt


def safe_root(x):
    return np.where(x > 0, np.sqrt(x), 0.0)


g = gt.grad(lambda x: np.sum(safe_root(x)))(np.array([4.0, 0.0, 1.0]))
assert np.allclose(g, [0.25, 0.0, 0.5])
