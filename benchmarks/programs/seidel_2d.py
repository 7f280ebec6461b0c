"""Gauss-Seidel sweeps on a plane: each number is replaced as soon as its new value is known.

Solvers of elliptic equations, smoothers of multigrid methods. Each row is a recurrence.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (5, 2)
PAPER = (28, 4)


def initialise(size):
    n, steps = size
    return default_rng(4).random((n, n)), steps


def program(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            above, below = A[i - 1], A[i + 1]
            A[i, 1:-1] += above[:-2] + above[1:-1] + above[2:] + A[i, 2:] + below[:-2] + below[1:-1] + below[2:]
            for j in range(1, n - 1):
                A[i, j] += A[i, j - 1]
                A[i, j] /= 9.0
    return np.sum(A * A)


def concatenated(A, steps):
    n = A.shape[0]
    for _ in range(steps):
        rows = [A[0]]
        for i in range(1, n - 1):
            above, row, below = rows[-1], A[i], A[i + 1]
            right = row[1:-1] + above[:-2] + above[1:-1] + above[2:] + row[2:] + below[:-2] + below[1:-1] + below[2:]
            new = [row[0]]
            for j in range(n - 2):
                new.append((right[j] + new[-1]) / 9.0)
            rows.append(np.stack([*new, row[-1]]))
        A = np.stack([*rows, A[-1]])
    return np.sum(A * A)
