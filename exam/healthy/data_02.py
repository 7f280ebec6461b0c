"""Minus infinity as a mask and as a prior that is not met."""

import numpy as np

import gradtape as gt


def log_prior(x):
    return np.where(np.abs(x) < 5, 0.0, -np.inf)


def loss(x):
    masked = x + np.array([0.0, -np.inf, 0.0])
    return np.sum(0.5 * x**2 - log_prior(x)) + gt.logsumexp(masked)


gradient = gt.grad(loss)(np.array([0.1, 2.0, 1.0]))
assert np.isfinite(gradient).all()
