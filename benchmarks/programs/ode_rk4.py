"""Runge and Kutta's fourth-order steps of the Lorenz system, with a right-hand side from `np.array`.

Simulations of all kinds; the trajectory is a buffer of rows.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (4,)
PAPER = (150,)


def initialise(size):
    (steps,) = size
    return 1.0 + default_rng(44).random(3), 28.0, steps


def lorenz(state, rho):
    x, y, z = state[0], state[1], state[2]
    return np.array([10.0 * (y - x), x * (rho - z) - y, x * y - 8.0 / 3.0 * z])


def program(start, rho, steps):
    dt = 0.005
    trajectory = np.empty((steps + 1, 3))
    trajectory[0] = start
    for i in range(steps):
        state = trajectory[i]
        k1 = lorenz(state, rho)
        k2 = lorenz(state + 0.5 * dt * k1, rho)
        k3 = lorenz(state + 0.5 * dt * k2, rho)
        k4 = lorenz(state + dt * k3, rho)
        trajectory[i + 1] = state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.mean(trajectory**2)


def concatenated(start, rho, steps):
    dt = 0.005
    rows = [start]
    for _ in range(steps):
        state = rows[-1]
        k1 = lorenz(state, rho)
        k2 = lorenz(state + 0.5 * dt * k1, rho)
        k3 = lorenz(state + 0.5 * dt * k2, rho)
        k4 = lorenz(state + dt * k3, rho)
        rows.append(state + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4))
    return np.mean(np.stack(rows) ** 2)
