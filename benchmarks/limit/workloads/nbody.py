"""Stars that attract each other: 64 of them, 100 steps, the final energy by masses, positions and speeds."""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
ROWS = {"nbody": (64, 100)}
SMALL = (9, 3)


def initialise(size):
    bodies, steps = size
    rng = default_rng(31337)
    return [
        rng.uniform(0.5, 1.5, bodies) / bodies,
        rng.standard_normal((bodies, 3)),
        0.1 * rng.standard_normal((bodies, 3)),
        0.01 * (rng.random(steps) + 0.5),
    ]


def acceleration(xp, mass, x):
    apart = x[None, :, :] - x[:, None, :]
    square = xp.sum(apart * apart, -1) + 0.05
    return xp.sum((mass * square**-1.5)[:, :, None] * apart, 1)


def leap(xp, mass, x, v, dt):
    x = x + dt * v
    return x, v + dt * acceleration(xp, mass, x)


def energy(xp, mass, x, v):
    return xp.sum(mass[:, None] * v * v) + xp.sum(x * x)


def program(mass, x, v, times):
    for dt in times:
        x, v = leap(np, mass, x, v, dt)
    return energy(np, mass, x, v)


def program_jax(mass, x, v, times):
    from jax import lax

    (x, v), _ = lax.scan(lambda pair, dt: (leap(np, mass, *pair, dt), None), (x, v), times)
    return energy(np, mass, x, v)


def program_torch(torch, mass, x, v, times):
    for dt in times:
        x, v = leap(torch, mass, x, v, dt)
    return energy(torch, mass, x, v)


TORCH_COMPILE = False
"""It did not finish in seven minutes: the Python loop is traced step by step."""
