"""Forces of a Lennard-Jones cluster: the distance of a particle to itself is masked before the power."""

import numpy as np

import gradtape as gt

x = gt.Variable(np.array([[0.0, 0.0], [1.1, 0.0], [0.5, 1.0]]))
off = ~np.eye(3, dtype=bool)
with gt.GradientTape() as tape:
    squared = np.sum((x[:, None] - x) ** 2, axis=-1)
    inverse = 1.0 / np.where(off, squared, 1.0) ** 3
    energy = 2.0 * np.sum(np.where(off, inverse**2 - inverse, 0.0))
forces = -tape.gradient(energy, x)
assert np.allclose(forces.numpy().sum(axis=0), 0.0)
