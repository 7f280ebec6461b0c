"""Missing values that are left out before anything is computed with them."""

import numpy as np

import gradtape as gt

data = np.array([1.0, np.nan, 3.0, np.nan])
known = np.isfinite(data)


def loss(mean):
    return np.sum(known * (np.where(known, data, 0.0) - mean) ** 2) + np.sum((data[known] - mean) ** 2)


assert np.isclose(gt.grad(loss)(0.5), -12.0)
