"""Floyd and Warshall's shortest paths between all pairs, in place.

Routes, transitive closures, bottlenecks of networks; the gradient counts how often an edge is used.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (5,)
PAPER = (60,)


def initialise(size):
    (n,) = size
    path = 1.0 + 9.0 * default_rng(13).random((n, n))
    numpy.fill_diagonal(path, 0.0)
    return (path,)


def program(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path, path[:, k, None] + path[None, k, :])
    return np.sum(np.sqrt(1.0 + path))


def concatenated(path):
    for k in range(path.shape[0]):
        path = np.minimum(path, path[:, k, None] + path[None, k, :])
    return np.sum(np.sqrt(1.0 + path))
