"""Stars that attract each other, leapfrog steps with velocities and positions updated in place.

Planets, galaxies, molecules; the loss is the kinetic energy at the end.
"""

from numpy.random import default_rng

import gradtape.numpy as np

ARGUMENTS = (0, 1, 2)
SMALL = (3, 3)
PAPER = (40, 20)


def initialise(size):
    bodies, steps = size
    rng = default_rng(39)
    return rng.random((bodies, 1)) + 0.5, rng.standard_normal((bodies, 3)), rng.standard_normal((bodies, 3)), steps


def acceleration(pos, mass, softening):
    x, y, z = pos[:, 0:1], pos[:, 1:2], pos[:, 2:3]
    dx, dy, dz = x.T - x, y.T - y, z.T - z
    inv_r3 = dx**2 + dy**2 + dz**2 + softening**2
    inv_r3 = inv_r3 ** (-1.5)
    return np.hstack([(dx * inv_r3) @ mass, (dy * inv_r3) @ mass, (dz * inv_r3) @ mass])


def program(mass, pos, vel, steps):
    dt = 0.01
    vel -= np.mean(mass * vel, axis=0) / np.mean(mass)
    acc = acceleration(pos, mass, 0.1)
    energy = np.empty(steps)
    for i in range(steps):
        vel += acc * dt / 2.0
        pos += vel * dt
        acc = acceleration(pos, mass, 0.1)
        vel += acc * dt / 2.0
        energy[i] = 0.5 * np.sum(mass * vel**2)
    return energy[-1] + 0.1 * np.sum(energy)
