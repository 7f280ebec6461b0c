"""Forward substitution with a lower triangular matrix, a number at a time.

The second half of each direct solver.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (6,)
PAPER = (200,)


def initialise(size):
    (n,) = size
    rng = default_rng(10)
    return rng.random((n, n)) + n * numpy.eye(n), rng.random(n)


def program(L, b):
    x = np.zeros_like(b)
    for i in range(x.shape[0]):
        x[i] = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
    return np.sum(x * x)


def concatenated(L, b):
    x = b[:0]
    for i in range(b.shape[0]):
        x = np.concatenate([x, (b[i : i + 1] - L[i, :i] @ x) / L[i, i]])
    return np.sum(x * x)
