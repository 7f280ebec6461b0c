"""Mean and scale of a normal distribution; the scale through its logarithm."""

import numpy as np

import gradtape as gt

data = np.random.default_rng(0).normal(3.0, 2.0, size=500)


def nll(theta):
    mu, log_sigma = theta[0], theta[1]
    z = (data - mu) / np.exp(log_sigma)
    return np.mean(0.5 * z**2 + log_sigma)


theta = np.zeros(2)
for _ in range(100):
    theta = theta - 0.8 * gt.grad(nll)(theta)
assert abs(theta[0] - data.mean()) < 1e-2
assert abs(np.exp(theta[1]) - data.std()) < 1e-2
