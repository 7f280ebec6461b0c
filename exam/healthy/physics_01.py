"""Lagrange: the equation of motion of a spring from its Lagrangian."""

import numpy as np

import gradtape as gt


def lagrangian(q, v):
    return 0.5 * np.sum(v**2) - 2.0 * np.sum(q**2)


q, v = np.array([0.3, -0.1]), np.array([1.0, 0.5])
force = gt.grad(lagrangian, argnums=0)(q, v)
mass = gt.jacobian(gt.grad(lagrangian, argnums=1), argnums=1)(q, v)
acceleration = np.linalg.solve(mass, force)
assert np.allclose(acceleration, -4.0 * q)
