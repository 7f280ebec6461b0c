"""Entropy with zeros in it: xlogy knows that 0 log 0 is 0."""

import numpy as np
from scipy import special

import gradtape as gt

counts = np.array([4.0, 0.0, 2.0])


def entropy(alpha):
    p = counts * alpha / np.sum(counts * alpha)
    return -np.sum(special.xlogy(p, np.where(counts > 0, p, 1.0)))


value, g = gt.value_and_grad(entropy)(np.ones(3))
assert np.isclose(value, -(2 / 3 * np.log(2 / 3) + 1 / 3 * np.log(1 / 3)))
assert np.isfinite(g).all()
