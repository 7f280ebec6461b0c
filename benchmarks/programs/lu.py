"""Factorisation into triangular matrices, in place, element by element.

Direct solvers as textbooks write them; the loss is the logarithm of the determinant.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (5,)
PAPER = (30,)


def initialise(size):
    (n,) = size
    return (default_rng(6).random((n, n)) + n * numpy.eye(n),)


def program(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(np.log(np.diag(A)))
