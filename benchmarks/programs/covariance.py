"""The covariance of columns: the data are centred in place, then a row of the matrix and its mirror are written.

Statistics, principal components.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (6, 4)
PAPER = (300, 60)


def initialise(size):
    return (default_rng(30).random(size),)


def program(data):
    mean = np.mean(data, axis=0)
    data -= mean
    M = data.shape[1]
    cov = np.zeros((M, M))
    for i in range(M):
        cov[i:, i] = data[:, i] @ data[:, i:] / (data.shape[0] - 1.0)
        cov[i, i:] = cov[i:, i]
    return np.sum(cov**2)


def concatenated(data):
    data = data - np.mean(data, axis=0)
    M = data.shape[1]
    total = 0.0
    rows = []
    for i in range(M):
        rows.append(data[:, i] @ data[:, i:] / (data.shape[0] - 1.0))
        total = total + rows[-1][0] ** 2
    return 2.0 * np.sum(np.concatenate(rows) ** 2) - total
