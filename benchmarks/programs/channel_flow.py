"""Flow in a channel with periodic ends, stepped until it no longer changes.

The number of steps depends on the numbers: a `while` loop with a test of convergence.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (6, 7, 0.2)
PAPER = (30, 30, 0.05)


def initialise(size):
    ny, nx, tolerance = size
    return 0.5 + 0.1 * default_rng(17).random((ny, nx)), 1.0, tolerance


def program(u, force, tolerance):
    ny, nx = u.shape
    dx, dy, dt, nu = 2 / (nx - 1), 2 / (ny - 1), 0.002, 0.1
    change = 1.0
    while change > tolerance * dt * 10:
        un = u.copy()
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            + force * dt
            + nu * dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
            + nu * dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
        )
        u[1:-1, -1] = (
            un[1:-1, -1]
            - un[1:-1, -1] * dt / dx * (un[1:-1, -1] - un[1:-1, -2])
            + force * dt
            + nu * dt / dx**2 * (un[1:-1, 0] - 2 * un[1:-1, -1] + un[1:-1, -2])
            + nu * dt / dy**2 * (un[2:, -1] - 2 * un[1:-1, -1] + un[0:-2, -1])
        )
        u[1:-1, 0] = (
            un[1:-1, 0]
            - un[1:-1, 0] * dt / dx * (un[1:-1, 0] - un[1:-1, -1])
            + force * dt
            + nu * dt / dx**2 * (un[1:-1, 1] - 2 * un[1:-1, 0] + un[1:-1, -1])
            + nu * dt / dy**2 * (un[2:, 0] - 2 * un[1:-1, 0] + un[0:-2, 0])
        )
        u[0, :] = 0
        u[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        change = change if change > 0 else -change
    return np.sum(u * u)
