"""The correlation of columns: the data are centred and scaled in place, then the matrix is filled.

Statistics, portfolios, gene expression.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (6, 4)
PAPER = (300, 60)


def initialise(size):
    return (default_rng(31).random(size),)


def program(data):
    n, M = data.shape
    mean = np.mean(data, axis=0)
    stddev = np.std(data, axis=0)
    stddev[stddev <= 0.1] = 1.0
    data -= mean
    data /= numpy.sqrt(n) * stddev
    corr = np.eye(M)
    for i in range(M - 1):
        corr[i + 1 :, i] = data[:, i] @ data[:, i + 1 :]
        corr[i, i + 1 :] = corr[i + 1 :, i]
    return np.sum(corr**2)


def concatenated(data):
    n, M = data.shape
    stddev = np.std(data, axis=0)
    stddev = np.where(stddev <= 0.1, 1.0, stddev)
    data = (data - np.mean(data, axis=0)) / (numpy.sqrt(n) * stddev)
    rows = [data[:, i] @ data[:, i + 1 :] for i in range(M - 1)]
    return M + 2.0 * np.sum(np.concatenate(rows) ** 2)
