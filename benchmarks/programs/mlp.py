"""A network of three dense layers trained by hand-written steps in NumPy: the loss after some steps by the weights.

Small networks without a framework; the gradients inside are written out, and weights are updated in place.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (2, 3)
SMALL = (4, 3, 5, 2, 2)
PAPER = (64, 30, 60, 10, 8)


def initialise(size):
    batch, inputs, hidden, outputs, steps = size
    rng = default_rng(29)
    return (
        rng.standard_normal((batch, inputs)),
        rng.standard_normal((batch, outputs)),
        rng.standard_normal((inputs, hidden)) / inputs**0.5,
        rng.standard_normal((hidden, outputs)) / hidden**0.5,
        steps,
    )


def program(x, y, w1, w2, steps):
    rate = 0.1
    for _ in range(steps):
        hidden = np.tanh(x @ w1)
        error = (hidden @ w2 - y) / x.shape[0]
        back = (error @ w2.T) * (1.0 - hidden**2)
        w2 -= rate * (hidden.T @ error)
        w1 -= rate * (x.T @ back)
    return np.mean((np.tanh(x @ w1) @ w2 - y) ** 2)


def concatenated(x, y, w1, w2, steps):
    rate = 0.1
    for _ in range(steps):
        hidden = np.tanh(x @ w1)
        error = (hidden @ w2 - y) / x.shape[0]
        back = (error @ w2.T) * (1.0 - hidden**2)
        w1, w2 = w1 - rate * (x.T @ back), w2 - rate * (hidden.T @ error)
    return np.mean((np.tanh(x @ w1) @ w2 - y) ** 2)
