"""A polynomial fit; the design matrix is an outer power."""

import numpy as np

import gradtape as gt

x = np.linspace(-1, 1, 30)
y = 1.0 - x + 2.0 * x**3
powers = np.arange(4)


def loss(c):
    return np.sum((np.sum(c * x[:, None] ** powers, axis=1) - y) ** 2)


c = np.zeros(4)
for _ in range(20):
    c = c - np.linalg.solve(gt.hessian(loss)(c), gt.grad(loss)(c))
assert np.allclose(c, [1.0, -1.0, 0.0, 2.0])
