# expect: GT403
# cause: the interaction of a particle with itself is masked after 1 / r was computed at r = 0
# wrong: np.isnan(forces.numpy()).any()
# cure: 1.0 / r -> 1.0 / np.where(off_diagonal, r, 1.0)
import numpy as np

import gradtape as gt

x = gt.Variable([0.0, 1.0, 3.0])
charge = np.array([1.0, -2.0, 1.0])
off_diagonal = ~np.eye(3, dtype=bool)
with gt.GradientTape() as tape, np.errstate(divide="ignore", invalid="ignore"):
    r = np.abs(x[:, None] - x[None, :])
    inverse = 1.0 / r  # <- here
    pairs = np.einsum("i,ij,j->ij", charge, inverse, charge)
    energy = 0.5 * np.sum(np.where(off_diagonal, pairs, 0.0))  # <- here
with np.errstate(divide="ignore", invalid="ignore"):
    forces = tape.gradient(energy, x)
