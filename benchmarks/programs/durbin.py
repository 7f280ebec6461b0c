"""Durbin's recursion: the solution of a symmetric Toeplitz system, order by order.

Linear prediction of speech, autoregressive models of time series.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
SMALL = (6,)
PAPER = (100,)


def initialise(size):
    (n,) = size
    return (0.6 ** numpy.arange(1, n + 1) * (1.0 + 0.1 * default_rng(9).random(n)),)


def program(r):
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y * y)


def concatenated(r):
    alpha, beta = -r[0], 1.0
    y = -r[:1]
    for k in range(1, r.shape[0]):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y)) / beta
        y = np.concatenate([y + alpha * np.flip(y), np.reshape(alpha, (1,))])
    return np.sum(y * y)
