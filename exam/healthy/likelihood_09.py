"""A log-likelihood is a sum over the data by definition; it is fitted to subsets of several sizes."""

import numpy as np

import gradtape as gt

data = np.random.default_rng(0).normal(2.0, 1.5, size=64)


def nll(theta, x):
    mu, log_sigma = theta[0], theta[1]
    return np.sum(0.5 * ((x - mu) * np.exp(-log_sigma)) ** 2 + log_sigma)


for count in (8, 16, 64):
    theta = np.zeros(2)
    for _ in range(200):
        theta = theta - 0.2 / count * gt.grad(nll)(theta, data[:count])
    assert np.allclose(theta[0], data[:count].mean(), atol=1e-2)
