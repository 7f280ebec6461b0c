"""A decision by a tracked value: Newton steps until float() says it is small."""

import numpy as np

import gradtape as gt


def cube_root(a):
    x = a
    while abs(float(x**3 - a)) > 1e-12:
        x = x - (x**3 - a) / (3.0 * x**2)
    return x


a = 5.0
assert np.isclose(gt.grad(cube_root)(a), a ** (-2 / 3) / 3)
