"""Pairwise distances with a safe square root; the stress of a two-dimensional embedding falls."""

import numpy as np

import gradtape as gt

rng = np.random.default_rng(4)
points = rng.normal(size=(8, 4))
wanted = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
off = ~np.eye(8, dtype=bool)


def stress(z):
    squared = np.sum((z[:, None] - z) ** 2, axis=-1)
    distance = np.sqrt(np.where(off, squared, 1.0))
    return np.sum(np.where(off, distance - wanted, 0.0) ** 2)


z = rng.normal(size=(8, 2))
values = [stress(z)]
for _ in range(40):
    z = z - 0.01 * gt.grad(stress)(z)
    values.append(stress(z))
assert values[-1] < 0.7 * values[0]
