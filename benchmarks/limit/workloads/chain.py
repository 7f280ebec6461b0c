"""A hundred times sine, product and sum, one after the other: what an operation costs."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0,)
ROWS = {"chain_10": (10,), "chain_1e5": (100_000,)}
SMALL = (19,)


def initialise(size):
    return [default_rng(31337).uniform(0.1, 1.0, size)]


def program(x):
    for _ in range(100):
        x = np.sin(x) * 1.01 + 0.1
    return np.sum(x)


def program_torch(torch, x):
    for _ in range(100):
        x = torch.sin(x) * 1.01 + 0.1
    return torch.sum(x)
