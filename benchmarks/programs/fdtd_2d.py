"""Maxwell's equations on a staggered grid (finite differences in time), two dimensions.

Antennas, photonics, ground radar; the source drives one edge of the field.
"""

import numpy

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2, 3)
SMALL = (6, 5, 4)
PAPER = (120, 100, 60)


def initialise(size):
    nx, ny, steps = size
    i, j = numpy.arange(nx)[:, None], numpy.arange(ny)[None, :]
    ex = i * (j + 1.0) / nx
    ey = i * (j + 2.0) / ny
    hz = i * (j + 3.0) / nx
    return ex, ey, hz, numpy.sin(numpy.arange(steps) / 3.0), steps


def program(ex, ey, hz, source, steps):
    for t in range(steps):
        ey[0, :] = source[t]
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.mean(hz * hz)


def concatenated(ex, ey, hz, source, steps):
    for t in range(steps):
        first = source[t] * np.ones((1, ey.shape[1]))
        ey = np.concatenate([first, ey[1:, :] - 0.5 * (hz[1:, :] - hz[:-1, :])])
        ex = np.concatenate([ex[:, :1], ex[:, 1:] - 0.5 * (hz[:, 1:] - hz[:, :-1])], axis=1)
        inner = hz[:-1, :-1] - 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
        hz = np.concatenate([np.concatenate([inner, hz[:-1, -1:]], axis=1), hz[-1:]])
    return np.mean(hz * hz)
