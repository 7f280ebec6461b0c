"""A symmetric matrix, of which the lower half is stored, times a matrix.

BLAS level 3 as textbooks write it.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (4, 3)
PAPER = (60, 40)


def initialise(size):
    n, m = size
    rng = default_rng(32)
    return rng.random((n, n)), rng.random((n, m)), rng.random((n, m))


def program(A, B, C):
    alpha, beta = 1.5, 1.2
    temp2 = np.empty((C.shape[1],))
    C *= beta
    for i in range(C.shape[0]):
        for j in range(0, C.shape[1], 8):
            C[:i, j : j + 8] += alpha * np.outer(A[i, :i], B[i, j : j + 8])
        temp2[:] = A[i, :i] @ B[:i, :]
        C[i, :] += alpha * B[i, :] * A[i, i] + alpha * temp2
    return np.sum(C**2)
