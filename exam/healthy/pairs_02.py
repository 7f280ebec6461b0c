"""Outer products with an explicit new axis behind conj, real, a sign, astype and names."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
c = rng.normal(size=(2, 5)) + 1j * rng.normal(size=(2, 5))


def norm(c):
    column = c[0, :][:, np.newaxis]
    turned = np.conj(column)
    density = np.conj(c[0, :][:, np.newaxis]) * c[1, :]
    other = turned * c[1, :]
    real = np.real(column) * np.real(c[1, :])
    return np.sum(np.abs(density + other) ** 2) + np.sum((-real.astype(np.float64)) ** 2)


g = gt.grad(norm)(c)
assert np.isfinite(g).all()
assert g.shape == c.shape
