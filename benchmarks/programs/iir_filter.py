"""A recursive filter of second order over a signal, sample by sample.

Audio, control, seismology.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (8,)
PAPER = (400,)


def initialise(size):
    (n,) = size
    rng = default_rng(41)
    return rng.standard_normal(n), rng.random(3), 0.3 * rng.random(2)


def program(x, b, a):
    y = np.zeros_like(x)
    y[0] = b[0] * x[0]
    y[1] = b[0] * x[1] + b[1] * x[0] - a[0] * y[0]
    for i in range(2, x.shape[0]):
        y[i] = b[0] * x[i] + b[1] * x[i - 1] + b[2] * x[i - 2] - a[0] * y[i - 1] - a[1] * y[i - 2]
    return np.mean(y**2)


def concatenated(x, b, a):
    y = [b[0] * x[0]]
    y.append(b[0] * x[1] + b[1] * x[0] - a[0] * y[0])
    for i in range(2, x.shape[0]):
        y.append(b[0] * x[i] + b[1] * x[i - 1] + b[2] * x[i - 2] - a[0] * y[-1] - a[1] * y[-2])
    return np.mean(np.stack(y) ** 2)
