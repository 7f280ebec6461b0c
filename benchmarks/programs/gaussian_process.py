"""A Gaussian process: the kernel's matrix is filled row by row, and its logarithmic likelihood.

Regression with uncertainty, Bayesian optimisation.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (2, 3, 4)
SMALL = (5,)
PAPER = (60,)


def initialise(size):
    (n,) = size
    rng = default_rng(49)
    x = numpy.sort(rng.random(n) * 4.0)
    return x, numpy.sin(x) + 0.1 * rng.standard_normal(n), 0.8, 1.1, 0.3


def program(x, y, length, scale, noise):
    n = x.shape[0]
    K = np.empty((n, n))
    for i in range(n):
        K[i, :] = scale**2 * np.exp(-0.5 * ((x[i] - x) / length) ** 2)
        K[i, i] += noise**2
    L = np.linalg.cholesky(K)
    z = np.linalg.solve(L, y)
    return -0.5 * z @ z - np.sum(np.log(np.diag(L))) - 0.5 * n * np.log(2 * np.pi)


def concatenated(x, y, length, scale, noise):
    n = x.shape[0]
    rows = [scale**2 * np.exp(-0.5 * ((x[i] - x) / length) ** 2) for i in range(n)]
    L = np.linalg.cholesky(np.stack(rows) + noise**2 * numpy.eye(n))
    z = np.linalg.solve(L, y)
    return -0.5 * z @ z - np.sum(np.log(np.diag(L))) - 0.5 * n * np.log(2 * np.pi)
