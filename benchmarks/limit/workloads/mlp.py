"""A network 784-256-128-10 with relu and the mean cross entropy of a batch, in single precision."""

import itertools

import numpy
from numpy.random import default_rng

import gradtape.numpy as np
import gradtape.scipy.special as special

ARGUMENTS = (0, 1, 2, 3, 4, 5)
ROWS = {"mlp": (128, 784, 256, 128, 10)}
SMALL = (6, 20, 16, 8, 10)


def initialise(size):
    batch, *widths = size
    rng = default_rng(31337)
    parameters = []
    for inputs, outputs in itertools.pairwise(widths):
        parameters.append((rng.standard_normal((inputs, outputs)) / numpy.sqrt(inputs)).astype(numpy.float32))
        parameters.append((0.1 * rng.standard_normal(outputs)).astype(numpy.float32))
    x = rng.standard_normal((batch, widths[0])).astype(numpy.float32)
    return [*parameters, x, rng.integers(0, widths[-1], batch)]


def program(w1, b1, w2, b2, w3, b3, x, labels):
    hidden = np.maximum(x @ w1 + b1, 0.0)
    hidden = np.maximum(hidden @ w2 + b2, 0.0)
    log_p = special.log_softmax(hidden @ w3 + b3, axis=1)
    return -np.mean(log_p[np.arange(len(labels)), labels])


def program_jax(w1, b1, w2, b2, w3, b3, x, labels):
    import jax

    hidden = jax.nn.relu(x @ w1 + b1)
    hidden = jax.nn.relu(hidden @ w2 + b2)
    log_p = jax.nn.log_softmax(hidden @ w3 + b3)
    return -np.mean(log_p[np.arange(len(labels)), labels])


def program_torch(torch, w1, b1, w2, b2, w3, b3, x, labels):
    hidden = torch.relu(torch.addmm(b1, x, w1))
    hidden = torch.relu(torch.addmm(b2, hidden, w2))
    return torch.nn.functional.cross_entropy(torch.addmm(b3, hidden, w3), labels)
