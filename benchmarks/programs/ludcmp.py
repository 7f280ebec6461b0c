"""A linear system by triangular factors and two substitutions, all written out.

Direct solvers as textbooks write them.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (5,)
PAPER = (26,)


def initialise(size):
    (n,) = size
    rng = default_rng(12)
    return rng.random((n, n)) + n * numpy.eye(n), rng.random(n)


def program(A, b):
    n = b.shape[0]
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(n):
        for j in range(i):
            A[i, j] = (A[i, j] - A[i, :j] @ A[:j, j]) / A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    for i in range(n):
        y[i] = b[i] - A[i, :i] @ y[:i]
    for i in range(n - 1, -1, -1):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x * x)
