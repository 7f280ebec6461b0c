"""A tensor times a matrix along its last axis, plane by plane in place.

Quantum chemistry, multiresolution analysis.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (3, 2, 4)
PAPER = (40, 30, 40)


def initialise(size):
    rng = default_rng(38)
    return rng.random(size), rng.random((size[2], size[2])) / size[2]


def program(A, C4):
    for r in range(A.shape[0]):
        A[r] = A[r] @ C4
    return np.sum(A**2)


def concatenated(A, C4):
    return np.sum(np.stack([A[r] @ C4 for r in range(A.shape[0])]) ** 2)
