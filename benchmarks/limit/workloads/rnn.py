"""A recurrent network 32 -> 64, 50 steps in a Python loop, batch 16, in single precision."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
ROWS = {"rnn": (50, 16, 32, 64)}
SMALL = (4, 3, 32, 64)


def initialise(size):
    steps, batch, inputs, width = size
    rng = default_rng(31337)
    arrays = [
        rng.standard_normal((inputs, width)) / numpy.sqrt(inputs),
        rng.standard_normal((width, width)) / numpy.sqrt(width),
        0.1 * rng.standard_normal(width),
        rng.standard_normal((steps, batch, inputs)),
        rng.standard_normal((batch, width)),
    ]
    return [array.astype(numpy.float32) for array in arrays]


def program(w, u, b, x, target):
    state = np.zeros_like(target)
    for inputs in x:
        state = np.tanh(inputs @ w + state @ u + b)
    return np.mean((state - target) ** 2)


def program_torch(torch, w, u, b, x, target):
    state = torch.zeros_like(target)
    for inputs in x:
        state = torch.tanh(inputs @ w + state @ u + b)
    return torch.mean((state - target) ** 2)
