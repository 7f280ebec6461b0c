"""The largest eigenvalue by repeated products, the vector normalised in place.

Rankings, stability of structures, spectral norms.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (4, 3)
PAPER = (100, 60)


def initialise(size):
    n, steps = size
    return default_rng(52).random((n, n)), steps


def program(A, steps):
    x = np.ones(A.shape[0])
    for _ in range(steps):
        x[:] = A @ x
        x /= np.sqrt(np.sum(x * x))
    return x @ A @ x


def concatenated(A, steps):
    x = np.ones(A.shape[0])
    for _ in range(steps):
        x = A @ x
        x = x / np.sqrt(np.sum(x * x))
    return x @ A @ x
