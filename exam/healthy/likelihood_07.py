"""Bayesian linear regression: a MAP estimate with a Gaussian prior, by Newton."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(6)
X, y = rng.normal(size=(30, 3)), rng.normal(size=30)


def negative_log_posterior(w):
    return 0.5 * np.sum((y - X @ w) ** 2) + 0.5 * np.sum(w**2)


w0 = np.zeros(3)
w = w0 - np.linalg.solve(gt.hessian(negative_log_posterior)(w0), gt.grad(negative_log_posterior)(w0))
assert np.allclose(w, np.linalg.solve(X.T @ X + np.eye(3), X.T @ y))
