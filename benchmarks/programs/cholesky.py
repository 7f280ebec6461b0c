"""Cholesky's factorisation, in place, element by element.

Gaussian processes, normal equations, sampling from a covariance.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (5,)
PAPER = (30,)


def initialise(size):
    (n,) = size
    root = default_rng(7).standard_normal((n, n))
    return (root @ root.T + n * numpy.eye(n),)


def program(A):
    n = A.shape[0]
    A[0, 0] = np.sqrt(A[0, 0])
    for i in range(1, n):
        for j in range(i):
            A[i, j] -= np.dot(A[i, :j], A[j, :j])
            A[i, j] /= A[j, j]
        A[i, i] -= np.dot(A[i, :i], A[i, :i])
        A[i, i] = np.sqrt(A[i, i])
    return np.sum(np.tril(A))
