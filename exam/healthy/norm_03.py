"""Centring a square matrix along both axes, as in kernel PCA."""

import numpy as np

import gradtape as gt

A = np.random.default_rng(2).normal(size=(7, 7))


def centred_norm(scale):
    K = np.exp(scale * A)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    return np.sum(K**2)


numeric = (centred_norm(0.3 + 1e-6) - centred_norm(0.3 - 1e-6)) / 2e-6
assert np.isclose(gt.grad(centred_norm)(0.3), numeric, rtol=1e-6)
