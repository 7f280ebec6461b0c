"""A root that is kept away from zero, over a large table of distances."""

import numpy as np

import gradtape as gt

points = np.random.default_rng(6).normal(size=(200, 3))


def energy(p):
    square = np.sum((p[:, None] - p[None]) ** 2, axis=-1)
    return np.sum(np.exp(-np.sqrt(square + 1e-12)))


g = gt.grad(energy)(points)
assert np.isfinite(g).all()
assert np.allclose(g.sum(axis=0), 0.0)
