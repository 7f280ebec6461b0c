"""Jacobian and Hessian of a small function, against finite differences."""

import numpy as np

import gradtape as gt

f = lambda x: np.stack([x[0] * x[1], np.sin(x[1]), x[0] ** 2])
x = np.array([0.7, -0.4])
eps = 1e-6 * np.eye(2)
numeric = np.stack([(f(x + e) - f(x - e)) / 2e-6 for e in eps], axis=1)
assert np.allclose(gt.jacobian(f)(x), numeric)
assert np.allclose(gt.hessian(lambda x: f(x).sum())(x), gt.hessian(lambda x: f(x).sum())(x).T)
