"""A system of 1000 linear equations: the solution's squared distance from a vector, by matrix and right-hand side."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
ROWS = {"solve": 1000}
SMALL = 19


def initialise(size):
    rng = default_rng(31337)
    matrix = rng.standard_normal((size, size)) / numpy.sqrt(size) + 2.0 * numpy.eye(size)
    return [matrix, rng.standard_normal(size), rng.standard_normal(size)]


def program(matrix, right, wanted):
    x = np.linalg.solve(matrix, right)
    return np.sum((x - wanted) ** 2)


def program_torch(torch, matrix, right, wanted):
    x = torch.linalg.solve(matrix, right)
    return torch.sum((x - wanted) ** 2)
