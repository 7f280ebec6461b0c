# expect: GT402
# says: np.sqrt(
# cause: as without jit: the root at zero distance, in a loop over blocks
# wrong: np.isnan(g).any()
# cure: np.sqrt(square) -> np.sqrt(square + 1e-9)
import numpy as np

import gradtape as gt

points = np.random.default_rng(1).normal(size=(240, 2))


def energy(p):
    total = 0.0
    for start in (0, 120):
        block = p[start : start + 120]
        square = np.sum((block[:, None] - p[None]) ** 2, axis=-1)
        total = total + np.sum(np.log1p(np.sqrt(square)))  # <- here
    return total


g = gt.jit(gt.grad(energy))(points)
