"""Rosenbrock's function: slices and powers. With ten numbers, what entering a call costs; with a million, memory."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"rosenbrock_10": (10,), "rosenbrock_1e6": (1_000_000,)}
SMALL = (21,)


def initialise(size):
    return [default_rng(31337).standard_normal(size)]


def program(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def program_torch(torch, x):
    return torch.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)
