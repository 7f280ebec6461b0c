"""A wave through a medium: 200 steps on 256 x 256 cells, the misfit at the end by the speed in every cell."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"wave": (256, 200)}
SMALL = (19, 5)


def initialise(size):
    cells, steps = size
    rng = default_rng(31337)
    place = numpy.linspace(-1.0, 1.0, cells)
    start = numpy.exp(-30.0 * (place[:, None] ** 2 + (place - 0.2) ** 2))
    start[0] = start[-1] = start[:, 0] = start[:, -1] = 0.0
    speed = 0.4 + 0.05 * rng.standard_normal((cells, cells))
    return [speed, start, 0.1 * rng.standard_normal((cells, cells)), numpy.zeros(steps)]


def advance(pad, speed, before, u):
    around = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
    c = speed[1:-1, 1:-1]
    return u, pad(2.0 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + c * c * around)


def program(speed, start, wanted, times):
    before, u = start, start
    for _ in range(len(times)):
        before, u = advance(lambda inner: np.pad(inner, 1), speed, before, u)
    return np.mean((u - wanted) ** 2)


def program_jax(speed, start, wanted, times):
    from jax import lax

    step = lambda pair, _: (advance(lambda inner: np.pad(inner, 1), speed, *pair), None)
    (_, u), _ = lax.scan(step, (start, start), None, len(times))
    return np.mean((u - wanted) ** 2)


def program_torch(torch, speed, start, wanted, times):
    before, u = start, start
    for _ in range(len(times)):
        before, u = advance(lambda inner: torch.nn.functional.pad(inner, (1, 1, 1, 1)), speed, before, u)
    return torch.mean((u - wanted) ** 2)


TORCH_COMPILE = False
"""It did not finish in seven minutes: the Python loop is traced step by step."""
