"""Missing values that are chosen away after they were multiplied."""

import numpy as np

import gradtape as gt

table = np.ones((4, 2))
table[2, 1] = np.nan


def total(w):
    known = np.where(np.isnan(table), 0.0, table * w)
    return np.sum(known**2)


gradient = gt.grad(total)(np.ones(2))
assert np.allclose(gradient, [8.0, 6.0])
