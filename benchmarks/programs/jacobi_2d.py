"""Jacobi relaxation on a plane, in place.

Laplace's equation with given values at the edges: heat, electrostatics, image inpainting.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (6, 3)
PAPER = (150, 100)


def initialise(size):
    n, steps = size
    rng = default_rng(2)
    return rng.random((n, n)), steps


def program(A, steps):
    B = A.copy()
    for _ in range(steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])
    return np.sum(A**3)


def concatenated(A, steps):
    B = A.copy()
    for _ in range(steps):
        B = framed(B, 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]))
        A = framed(A, 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1]))
    return np.sum(A**3)


def framed(A, inner):
    """`inner` with the edges of A."""
    return np.concatenate([A[:1], np.concatenate([A[1:-1, :1], inner, A[1:-1, -1:]], axis=1), A[-1:]])
