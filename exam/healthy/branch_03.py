"""Forces between particles: the distance of a particle to itself is masked afterwards."""

import numpy as np

import gradtape as gt

x = gt.Variable([0.0, 1.0, 3.0])
off_diagonal = ~np.eye(3, dtype=bool)
with gt.GradientTape() as tape, np.errstate(divide="ignore", invalid="ignore"):
    r = np.abs(x[:, None] - x[None, :])
    energy = 0.5 * np.sum(np.where(off_diagonal, 1.0 / r, 0.0))
with np.errstate(divide="ignore", invalid="ignore"):
    forces = tape.gradient(energy, x)
assert np.allclose(forces.numpy(), [1.0 + 1.0 / 9.0, 1.0 / 4.0 - 1.0, -1.0 / 4.0 - 1.0 / 9.0])
