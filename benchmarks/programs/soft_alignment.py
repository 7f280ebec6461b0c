"""Dynamic programming over a table: the smooth cost of aligning two series (soft dynamic time warping).

Speech, gestures, folding of RNA; a cell of the table waits for three neighbours.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (4, 5)
PAPER = (20, 20)


def initialise(size):
    n, m = size
    rng = default_rng(14)
    return rng.standard_normal(n), rng.standard_normal(m)


def softened_minimum(a, b, c):
    least = np.minimum(np.minimum(a, b), c)
    return least - np.log(np.exp(least - a) + np.exp(least - b) + np.exp(least - c))


def program(x, y):
    n, m = x.shape[0], y.shape[0]
    cost = np.zeros((n, m))
    cost[0, 0] = (x[0] - y[0]) ** 2
    for i in range(1, n):
        cost[i, 0] = (x[i] - y[0]) ** 2 + cost[i - 1, 0]
    for j in range(1, m):
        cost[0, j] = (x[0] - y[j]) ** 2 + cost[0, j - 1]
    for i in range(1, n):
        for j in range(1, m):
            cost[i, j] = (x[i] - y[j]) ** 2 + softened_minimum(cost[i - 1, j - 1], cost[i - 1, j], cost[i, j - 1])
    return cost[-1, -1]
