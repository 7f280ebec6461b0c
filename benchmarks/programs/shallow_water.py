"""The shallow water equations in one dimension, Runge-Kutta steps, walls set after each stage.

Floods, tides, tsunamis.
"""

import numpy
from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1)
SMALL = (7, 2)
PAPER = (400, 60)


def initialise(size):
    n, steps = size
    x = numpy.linspace(0.0, 1.0, n)
    height = 1.0 + 0.1 * numpy.exp(-100.0 * (x - 0.4) ** 2) + 0.01 * default_rng(50).random(n)
    return height, 0.05 * numpy.sin(3.0 * x), steps


def rates(h, u):
    dx = 1.0 / h.shape[0]
    dh = np.zeros_like(h)
    du = np.zeros_like(u)
    flux = h * u
    dh[1:-1] = -(flux[2:] - flux[:-2]) / (2.0 * dx) + 0.001 * (h[2:] - 2.0 * h[1:-1] + h[:-2]) / dx**2
    energy = 0.5 * u**2 + 9.81 * h
    du[1:-1] = -(energy[2:] - energy[:-2]) / (2.0 * dx) + 0.001 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) / dx**2
    return dh, du


def set_walls(h, u):
    h[0], h[-1] = h[1], h[-2]
    u[0] = 0.0
    u[-1] = 0.0


def program(h, u, steps):
    dt = 0.05 / h.shape[0]
    for _ in range(steps):
        dh, du = rates(h, u)
        h1, u1 = h + dt * dh, u + dt * du
        set_walls(h1, u1)
        dh1, du1 = rates(h1, u1)
        h += 0.5 * dt * (dh + dh1)
        u += 0.5 * dt * (du + du1)
        set_walls(h, u)
    return np.mean(h * u**2 + 9.81 * h**2)
