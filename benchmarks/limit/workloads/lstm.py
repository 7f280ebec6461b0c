"""The LSTM of ADBench: two layers, gates of each element by itself, 1024 steps, the next input predicted."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
ROWS = {"lstm": (1024, 14)}
SMALL = (6, 14)
LAYERS = 2


def initialise(size):
    length, width = size
    rng = default_rng(31337)
    return [
        0.5 * rng.standard_normal((LAYERS, 2, 4, width)),
        0.5 * rng.standard_normal((3, width)),
        0.5 * rng.standard_normal((LAYERS, 2, width)),
        rng.uniform(0.0, 1.0, (length, width)),
    ]


def step(xp, main, extra, states, x):
    x, after = x * extra[0], []
    for layer in range(LAYERS):
        weight, bias = main[layer, 0], main[layer, 1]
        hidden, cell = states[layer]
        forget = 1.0 / (1.0 + xp.exp(-(x * weight[0] + bias[0])))
        ingate = 1.0 / (1.0 + xp.exp(-(hidden * weight[1] + bias[1])))
        outgate = 1.0 / (1.0 + xp.exp(-(x * weight[2] + bias[2])))
        cell = cell * forget + ingate * xp.tanh(hidden * weight[3] + bias[3])
        x = outgate * xp.tanh(cell)
        after.append((x, cell))
    return after, x * extra[1] + extra[2]


def score(xp, guess, wanted):
    return xp.sum(wanted * (guess - xp.log(2.0 + xp.sum(xp.exp(guess)))))


def loss(xp, main, extra, start, x):
    states, total = [(start[i, 0], start[i, 1]) for i in range(LAYERS)], 0.0
    for t in range(len(x) - 1):
        states, guess = step(xp, main, extra, states, x[t])
        total = total + score(xp, guess, x[t + 1])
    return -total / ((x.shape[0] - 1) * x.shape[1])


def program(main, extra, start, x):
    return loss(np, main, extra, start, x)


def program_jax(main, extra, start, x):
    from jax import lax

    def advance(states, pair):
        states, guess = step(np, main, extra, states, pair[0])
        return states, score(np, guess, pair[1])

    states = [(start[i, 0], start[i, 1]) for i in range(LAYERS)]
    return -np.sum(lax.scan(advance, states, (x[:-1], x[1:]))[1]) / ((x.shape[0] - 1) * x.shape[1])


def program_torch(torch, main, extra, start, x):
    return loss(torch, main, extra, start, x)


TORCH_COMPILE = False
"""Left out: the Python loop is traced step by step, and a hundred steps of nbody did not finish."""
