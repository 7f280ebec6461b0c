"""Jacobi relaxation on a line, in place: two arrays that are averaged into each other.

The model of all stencil codes; diffusion in one dimension, smoothing, multigrid.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (12, 4)
PAPER = (8000, 300)


def initialise(size):
    n, steps = size
    rng = default_rng(1)
    return rng.random(n), rng.random(n), steps


def program(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] + B[2:])
    return np.sum(A * A)


def concatenated(A, B, steps):
    for _ in range(steps):
        B = np.concatenate([B[:1], 0.33333 * (A[:-2] + A[1:-1] + A[2:]), B[-1:]])
        A = np.concatenate([A[:1], 0.33333 * (B[:-2] + B[1:-1] + B[2:]), A[-1:]])
    return np.sum(A * A)
