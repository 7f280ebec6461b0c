"""A multivariate normal through the Cholesky factor of its covariance."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(3)
data = rng.normal(size=(200, 2)) @ np.array([[1.0, 0.5], [0.0, 0.7]])


def nll(mu, L):
    L = np.tril(L)
    z = np.linalg.solve(L, (data - mu).T)
    return 0.5 * np.mean(np.sum(z**2, axis=0)) + np.sum(np.log(np.abs(np.diagonal(L))))


mu, L = np.ones(2), np.eye(2)
start = nll(mu, L)
for _ in range(60):
    gm, gl = gt.grad(nll, argnums=(0, 1))(mu, L)
    mu, L = mu - 0.3 * gm, L - 0.1 * gl
assert nll(mu, L) < start - 0.3
assert np.allclose(mu, data.mean(axis=0), atol=0.05)
