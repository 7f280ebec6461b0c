"""The heat equation in three dimensions, explicit steps in place.

Heat conduction in solids; the innermost loop of many climate and reactor codes.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (4, 2)
PAPER = (25, 25)


def initialise(size):
    n, steps = size
    rng = default_rng(3)
    return rng.random((n, n, n)), rng.random((n, n, n)), steps


def diffused(A):
    inner = A[1:-1, 1:-1, 1:-1]
    return (
        0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * inner + A[:-2, 1:-1, 1:-1])
        + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 * inner + A[1:-1, :-2, 1:-1])
        + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 * inner + A[1:-1, 1:-1, :-2])
        + inner
    )


def program(A, B, steps):
    for _ in range(steps):
        B[1:-1, 1:-1, 1:-1] = diffused(A)
        A[1:-1, 1:-1, 1:-1] = diffused(B)
    return np.sum(A * A)


def concatenated(A, B, steps):
    for _ in range(steps):
        B = framed(B, diffused(A))
        A = framed(A, diffused(B))
    return np.sum(A * A)


def framed(A, inner):
    """`inner` with the faces of A."""
    inner = np.concatenate([A[1:-1, 1:-1, :1], inner, A[1:-1, 1:-1, -1:]], axis=2)
    inner = np.concatenate([A[1:-1, :1], inner, A[1:-1, -1:]], axis=1)
    return np.concatenate([A[:1], inner, A[-1:]])
