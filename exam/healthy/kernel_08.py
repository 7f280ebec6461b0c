"""Query points in a column against the centres of a network of radial functions: all pairs are meant."""

import numpy as np

import gradtape as gt

grid = np.linspace(-1.0, 1.0, 20)[:, None]
rng = np.random.default_rng(0)
spots, weights = rng.uniform(-1.0, 1.0, size=20), rng.normal(size=20)


def loss(width):
    apart = grid - spots
    return np.sum((np.exp(-((apart / width) ** 2)) @ weights) ** 2)


step = 1e-6
assert np.isclose(gt.grad(loss)(0.5), (loss(0.5 + step) - loss(0.5 - step)) / (2 * step), rtol=1e-5)
