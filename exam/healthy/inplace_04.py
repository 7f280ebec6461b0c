"""gt.at writes functionally: boundary conditions of a grid."""

import numpy as np

import gradtape as gt


def energy(u):
    u = gt.at(u)[0].set(0.0)
    u = gt.at(u)[-1].set(1.0)
    return np.sum(np.diff(u) ** 2)


u = np.zeros(9)
for _ in range(300):
    u = u - 0.2 * gt.grad(energy)(u)
assert np.allclose(u[1:-1], np.linspace(0, 1, 9)[1:-1], atol=1e-2)
