"""GARCH: the variance of tomorrow from the square of today, in a loop."""

import numpy as np

import gradtape as gt

returns = np.random.default_rng(3).normal(size=60)


def nll(raw):
    omega, alpha, beta = np.exp(raw[0]), gt.sigmoid(raw[1]), gt.sigmoid(raw[2])
    variance, total = 1.0, 0.0
    for r in returns:
        total = total + 0.5 * (np.log(variance) + r**2 / variance)
        variance = omega + 0.5 * alpha * r**2 + 0.5 * beta * variance
    return total


value, g = gt.value_and_grad(nll)(np.zeros(3))
eps = 1e-6 * np.eye(3)
numeric = [(float(nll(e)) - float(nll(-e))) / 2e-6 for e in eps]
assert np.allclose(g, numeric, rtol=1e-4)
