"""A triangular matrix times a matrix, in place.

BLAS level 3: blocked factorisations.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (4, 3)
PAPER = (80, 60)


def initialise(size):
    n, m = size
    rng = default_rng(34)
    return rng.random((n, n)), rng.random((n, m))


def program(A, B):
    alpha = 1.5
    for i in range(B.shape[0] - 1):
        B[i] += A[i + 1 :, i] @ B[i + 1 :]
    B *= alpha
    return np.sum(B**2)


def concatenated(A, B):
    alpha = 1.5
    rows = [B[i] + A[i + 1 :, i] @ B[i + 1 :] for i in range(B.shape[0] - 1)]
    return np.sum((np.stack([*rows, B[-1]]) * alpha) ** 2)
