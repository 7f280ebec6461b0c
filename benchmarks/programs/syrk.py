"""A symmetric update of rank k and of rank 2k, only the lower half, a row at a time.

BLAS level 3: covariance updates, quasi-Newton methods.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (4, 3)
PAPER = (80, 40)


def initialise(size):
    n, m = size
    rng = default_rng(33)
    return rng.random((n, n)), rng.random((n, m)), rng.random((n, m))


def program(C, A, B):
    alpha, beta = 1.5, 1.2
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        C[i, : i + 1] += alpha * (A[: i + 1] @ B[i] + B[: i + 1] @ A[i])
        C[i, : i + 1] += alpha * (A[: i + 1] @ A[i])
    return np.sum(C**2)


def concatenated(C, A, B):
    alpha, beta = 1.5, 1.2
    rows = []
    for i in range(A.shape[0]):
        below = beta * C[i, : i + 1] + alpha * (A[: i + 1] @ B[i] + B[: i + 1] @ A[i])
        rows.append(np.concatenate([below + alpha * (A[: i + 1] @ A[i]), C[i, i + 1 :]]))
    return np.sum(np.stack(rows) ** 2)
