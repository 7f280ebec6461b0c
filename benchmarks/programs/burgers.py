"""Burgers' equation with an upwind scheme and a limiter, in place.

Shocks, traffic; conditions on the sign of the velocity in each cell.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (8, 3)
PAPER = (500, 100)


def initialise(size):
    n, steps = size
    x = numpy.linspace(0.0, 1.0, n)
    return numpy.sin(2.0 * numpy.pi * x) + 0.1 * default_rng(51).random(n), 0.01, steps


def program(u, viscosity, steps):
    n = u.shape[0]
    dx = 1.0 / n
    dt = 0.1 * dx
    u_new = np.zeros_like(u)
    for _ in range(steps):
        backward = (u[1:-1] - u[:-2]) / dx
        forward = (u[2:] - u[1:-1]) / dx
        slope = np.where(u[1:-1] > 0.0, backward, forward)
        u_new[1:-1] = u[1:-1] - dt * u[1:-1] * slope + viscosity * dt / dx * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u_new[0] = u_new[-2]
        u_new[-1] = u_new[1]
        u[:] = u_new
    return np.sum(u**2)


def concatenated(u, viscosity, steps):
    n = u.shape[0]
    dx = 1.0 / n
    dt = 0.1 * dx
    for _ in range(steps):
        backward = (u[1:-1] - u[:-2]) / dx
        forward = (u[2:] - u[1:-1]) / dx
        slope = np.where(u[1:-1] > 0.0, backward, forward)
        inner = u[1:-1] - dt * u[1:-1] * slope + viscosity * dt / dx * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u = np.concatenate([inner[-1:], inner, inner[:1]])
    return np.sum(u**2)
