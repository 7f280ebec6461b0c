"""A cosmological distance by the trapezoidal rule over a parameter-dependent integrand."""

import numpy as np

import gradtape as gt

z = np.linspace(0, 1, 101)


def distance(omega):
    expansion = np.sqrt(omega * (1 + z) ** 3 + 1 - omega)
    return np.trapezoid(1.0 / expansion, z)


numeric = (distance(0.3 + 1e-6) - distance(0.3 - 1e-6)) / 2e-6
assert np.isclose(gt.grad(distance)(0.3), numeric)
