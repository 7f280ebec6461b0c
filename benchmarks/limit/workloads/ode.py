"""Prey and predators of Lotka and Volterra, 200 steps of Runge and Kutta in a Python loop over four numbers."""

import numpy

ARGUMENTS = (0, 1)
ROWS = {"ode": 200}
SMALL = 7


def initialise(size):
    return [numpy.array([1.1, 0.4, 0.1, 0.4]), numpy.array([10.0, 5.0]), numpy.zeros(size)]


def slope(p, prey, hunters):
    return p[0] * prey - p[1] * prey * hunters, p[2] * prey * hunters - p[3] * hunters


def rk4(p, x, y, h=0.05):
    a1, b1 = slope(p, x, y)
    a2, b2 = slope(p, x + 0.5 * h * a1, y + 0.5 * h * b1)
    a3, b3 = slope(p, x + 0.5 * h * a2, y + 0.5 * h * b2)
    a4, b4 = slope(p, x + h * a3, y + h * b3)
    return x + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4), y + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)


def program(p, start, times):
    x, y = start[0], start[1]
    for _ in range(len(times)):
        x, y = rk4(p, x, y)
    return x * x + y * y


def program_jax(p, start, times):
    from jax import lax

    (x, y), _ = lax.scan(lambda pair, _: (rk4(p, *pair), None), (start[0], start[1]), None, len(times))
    return x * x + y * y


def program_torch(torch, p, start, times):
    return program(p, start, times)


TORCH_COMPILE = False
"""Left out: the Python loop is traced step by step, and a hundred steps of nbody did not finish."""
