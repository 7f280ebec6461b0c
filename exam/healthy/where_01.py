"""A double where: the argument of sqrt is safe where the branch is not taken."""

import numpy as np

import gradtape as gt


def safe_root(x):
    positive = x > 0
    return np.where(positive, np.sqrt(np.where(positive, x, 1.0)), 0.0)


g = gt.grad(lambda x: np.sum(safe_root(x)))(np.array([4.0, 0.0, -1.0]))
assert np.allclose(g, [0.25, 0.0, 0.0])
