"""The products of a matrix and of its transpose with a vector, accumulated row by row.

The kernel of biconjugate gradients, of least squares and of a layer's gradient.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (4, 3)
PAPER = (150, 120)


def initialise(size):
    n, m = size
    rng = default_rng(37)
    return rng.random((n, m)), rng.random(m), rng.random(n)


def program(A, p, r):
    s = np.zeros(A.shape[1])
    q = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        s += r[i] * A[i, :]
        q[i] = A[i, :] @ p
    return np.sum(s**2) + np.sum(q**2)


def concatenated(A, p, r):
    s, q = 0.0, []
    for i in range(A.shape[0]):
        s = s + r[i] * A[i, :]
        q.append(A[i, :] @ p)
    return np.sum(s**2) + np.sum(np.stack(q) ** 2)
