"""Scalars as arrays of shape (1,): a rate that is computed from one, against all the data."""

import numpy as np

import gradtape as gt

waiting = np.random.default_rng(0).exponential(2.0, size=300)


def nll(theta):
    rate = np.exp(theta[:1])
    shift = 0.01 * np.tanh(theta[1:])
    return np.mean(rate * (waiting - shift) - np.log(rate))


theta = np.zeros(2)
for _ in range(60):
    theta = theta - 0.3 * gt.grad(nll)(theta)
assert abs(1 / np.exp(theta[0]) - waiting.mean()) < 0.05
