"""The squared residual of a Poisson equation on a grid of 96 x 96 x 96 cells, by the pressure in every cell."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"pressure": (96, 96, 96)}
SMALL = (5, 6, 19)


def initialise(size):
    rng = default_rng(31337)
    source = rng.standard_normal([extent - 2 for extent in size])
    return [rng.standard_normal(size), source]


def residual(p, source):
    neighbours = (
        p[2:, 1:-1, 1:-1]
        + p[:-2, 1:-1, 1:-1]
        + p[1:-1, 2:, 1:-1]
        + p[1:-1, :-2, 1:-1]
        + p[1:-1, 1:-1, 2:]
        + p[1:-1, 1:-1, :-2]
    )
    return neighbours - 6.0 * p[1:-1, 1:-1, 1:-1] - source


def program(p, source):
    r = residual(p, source)
    return 0.5 * np.mean(r * r)


def program_torch(torch, p, source):
    r = residual(p, source)
    return 0.5 * torch.mean(r * r)
