"""A sparse matrix in compressed rows times a vector, a row at a time.

Finite elements, graphs, rankings; ragged slices and index arrays.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (2, 3)
SMALL = (6, 15)
PAPER = (200, 2000)


def initialise(size):
    n, entries = size
    rng = default_rng(23)
    counts = rng.multinomial(entries, numpy.full(n, 1.0 / n))
    rows = numpy.concatenate([[0], numpy.cumsum(counts)])
    return rows, rng.integers(0, n, entries), rng.random(entries), rng.random(n)


def program(rows, columns, values, x):
    y = np.empty(rows.shape[0] - 1)
    for i in range(rows.shape[0] - 1):
        cols = columns[rows[i] : rows[i + 1]]
        vals = values[rows[i] : rows[i + 1]]
        y[i] = vals @ x[cols]
    return np.sum(y * y)


def concatenated(rows, columns, values, x):
    bounds = [(rows[i], rows[i + 1]) for i in range(rows.shape[0] - 1)]
    y = [values[first:last] @ x[columns[first:last]] for first, last in bounds]
    return np.sum(np.stack(y) ** 2)
