"""Logistic regression with SciPy, parameters in one flat vector."""

import numpy as np
from scipy.optimize import minimize

import gradtape as gt

rng = np.random.default_rng(2)
X = rng.normal(size=(80, 3))
y = (X @ np.array([1.0, -1.0, 0.2]) + 0.3 * rng.normal(size=80) > 0).astype(float)


def objective(theta):
    w, b = theta[:3], theta[3]
    z = X @ w + b
    return np.mean(np.logaddexp(0.0, z) - y * z) + 0.01 * np.sum(w**2)


result = minimize(gt.value_and_grad(objective), np.zeros(4), jac=True, method="BFGS")
assert result.fun < 0.5
assert np.linalg.norm(gt.grad(objective)(result.x)) < 1e-4
