"""Two updates of rank one and two products of a matrix with a vector, in place.

BLAS level 2 as one kernel.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3, 4, 5, 6, 7, 8)
SMALL = (4,)
PAPER = (400,)


def initialise(size):
    (n,) = size
    rng = default_rng(35)
    return (rng.random((n, n)), *(rng.random(n) / n for _ in range(8)))


def program(A, u1, v1, u2, v2, w, x, y, z):
    alpha, beta = 1.5, 1.2
    A += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ A + z
    w += alpha * A @ x
    return np.sum(w**2)


def concatenated(A, u1, v1, u2, v2, w, x, y, z):
    alpha, beta = 1.5, 1.2
    A = A + np.outer(u1, v1) + np.outer(u2, v2)
    x = x + beta * y @ A + z
    return np.sum((w + alpha * A @ x) ** 2)
