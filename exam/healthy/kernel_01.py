"""The marginal likelihood of a Gaussian process with x[:, None] - x."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 5, 15))
y = np.sin(x)


def negative_evidence(theta):
    length, noise = np.exp(theta[0]), np.exp(theta[1])
    K = np.exp(-0.5 * ((x[:, None] - x) / length) ** 2) + noise * np.eye(15)
    L = np.linalg.cholesky(K)
    alpha = np.linalg.solve(L, y)
    return 0.5 * np.sum(alpha**2) + np.sum(np.log(np.diagonal(L)))


theta = np.array([0.0, -2.0])
start = negative_evidence(theta)
for _ in range(20):
    theta = theta - 0.02 * gt.grad(negative_evidence)(theta)
assert negative_evidence(theta) < start
