# expect: GT201 because GT209
# says: argmax
# cause: the position of the peak is an index, which has no derivative
# wrong: not np.any(g)
# cure: grid[np.argmax(signal)] -> np.sum(grid * gt.softmax(50.0 * signal))
import numpy as np

import gradtape as gt

grid = np.linspace(-2.0, 2.0, 81)


def peak(centre):
    signal = np.exp(-((grid - centre) ** 2))
    best = grid[np.argmax(signal)]  # <- here
    return (best - 0.5) ** 2


g = gt.grad(peak)(0.2)  # <- asked
