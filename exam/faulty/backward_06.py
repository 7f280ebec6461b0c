# expect: GT402
# says: np.sqrt(
# cause: the distance of each particle to itself is zero, where the root has an infinite slope
# wrong: np.isnan(g).any()
# cure: np.sqrt(square) -> np.sqrt(square + 1e-9)
import numpy as np

import gradtape as gt

points = np.random.default_rng(0).normal(size=(250, 3))


def energy(p):
    apart = p[:, None, :] - p[None, :, :]
    square = np.sum(apart**2, axis=-1)
    distance = np.sqrt(square)  # <- here
    pull = np.exp(-distance)
    return np.sum(pull)


g = gt.grad(energy)(points)
