"""A Kalman filter of a point that moves in the plane: the log likelihood of 1000 positions by dynamics and noises."""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
ROWS = {"kalman": 1000}
SMALL = 6


def initialise(size):
    rng = default_rng(31337)
    dt = 0.1
    dynamics = numpy.eye(4) + dt * numpy.eye(4, k=2)
    process = 0.05 * numpy.eye(4) + 0.01
    noise = numpy.array([[0.5, 0.1], [0.1, 0.4]])
    observe = numpy.eye(2, 4)
    return [dynamics, process, noise, observe, 0.3 * rng.standard_normal((size, 2)).cumsum(axis=0)]


def step(xp, F, Q, R, H, x, P, y):
    x = F @ x
    P = F @ P @ F.T + Q
    innovation = y - H @ x
    S = H @ P @ H.T + R
    K = P @ H.T @ xp.linalg.inv(S)
    score = xp.log(xp.linalg.det(S)) + innovation @ xp.linalg.inv(S) @ innovation
    return x + K @ innovation, P - K @ H @ P, score


def program(F, Q, R, H, observed):
    x, P, total = np.zeros(4), np.eye(4), 0.0
    for y in observed:
        x, P, score = step(np, F, Q, R, H, x, P, y)
        total = total - 0.5 * score
    return total


def program_jax(F, Q, R, H, observed):
    from jax import lax

    def advance(state, y):
        x, P, score = step(np, F, Q, R, H, *state, y)
        return (x, P), score

    return -0.5 * np.sum(lax.scan(advance, (np.zeros(4), np.eye(4)), observed)[1])


def program_torch(torch, F, Q, R, H, observed):
    x, P = torch.zeros(4, dtype=F.dtype), torch.eye(4, dtype=F.dtype)
    total = 0.0
    for y in observed:
        x, P, score = step(torch, F, Q, R, H, x, P, y)
        total = total - 0.5 * score
    return total


TORCH_COMPILE = False
"""Left out: the Python loop is traced step by step, and a hundred steps of nbody did not finish."""
