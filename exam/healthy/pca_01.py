"""The first principal component by ascent on the Rayleigh quotient; the vector is renamed at each step."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3)) * np.array([3.0, 1.0, 0.5])
X = X - X.mean(axis=0)
C = X.T @ X / 60
quotient = lambda v: (v @ C @ v) / (v @ v)
v = np.ones(3)
for _ in range(150):
    v = v + 0.05 * gt.grad(quotient)(v)
    v = v / np.linalg.norm(v)
assert np.isclose(quotient(v), np.linalg.eigvalsh(C)[-1])
